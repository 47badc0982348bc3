"""English rules for names, age, birthday, home and origin."""

from __future__ import annotations

from typing import Final

from memoranda.formation.rules.grammar import Rule

# One rule a line, so that they read as a table.
# fmt: off

ABOUT_PEOPLE: Final = (
    Rule("name", r"my (?:(?:full|first|given|real|legal|actual) )?name(?:'s| is)(?: actually)? (?P<value><GIVEN>)<END>", "Is called {value}"),
    Rule("name", r"(?:the )?name(?:'s| is) (?P<value><NAME>)<END>", "Is called {value}"),
    Rule("name", r"(?:called|named) (?P<value><NAME>)<END>", "Is called {value}", "be"),
    Rule("name", r"you(?:'re| are) (?:talking|speaking|chatting|writing) (?:to|with) (?P<value><NAME>)<END>", "Is called {value}"),
    Rule("name", r"(?:this is|it's|it is) (?P<value><NAME>)(?: (?:here|speaking|again|from)\b|,? (?:your|the|from|can|could|i|i'm|please|calling|writing|and i|who)\b)", "Is called {value}"),
    Rule("name", r"<START>(?!<TRADE>|<DIET>)(?P<value><NAME>) here(?=\s*[,.!—–]|\s+again|$)", "Is called {value}"),
    Rule("name", r"(?P<value><NAME>)(?=\s*(?:[,.;!()—–]|-\s|$)|\s+(?:and|but|by the way|btw|from|here|the|your|an?)\b)", "Is called {value}", "be"),
    Rule("nickname", r"(?:<EVER>,? )?(?:(?:can|could|would|will) you (?:please |just )?|(?:you|u|people) (?:can|may|could|should|might|all) )?(?:please |pls |just |simply |do |always |all )*(?:call|address|refer to) me (?:as |by )?(?P<value><GIVEN>)<END>", "Wants to be called {value}"),
    Rule("nickname", r"(?:(?:(?:most|all)(?: of)? )?(?:my )?(?:friends|family|colleagues|mates|coworkers|co-workers|students|people|teammates|neighbou?rs)|everyone|everybody|folks|they|most people)"
         r"(?: (?:here|at work|at home|just|usually|all|always|mostly|generally))* (?:calls?|knows?) me (?:as )?(?P<value><GIVEN>)<END>", "Wants to be called {value}"),
    Rule("nickname", r"i(?:'d| would|d) (?:much )?(?:rather|prefer|like) (?:it if |that )?(?:you (?:just )?(?:called|call|used|use)|you to call|to be called|to go by|being called|people called|to be addressed as)(?: me)?(?: the name)? (?P<value><GIVEN>)<END>", "Wants to be called {value}"),
    Rule("nickname", r"(?:go by|answer to|prefer(?: to be called| being called| to go by| the name)|use the name)(?: just)? (?P<value><NAME>)<END>", "Wants to be called {value}", "do"),
    Rule("nickname", r"(?:better |usually |generally |mostly )?(?:known as|known to (?:my )?(?:friends|everyone) as) (?P<value><NAME>)<END>", "Wants to be called {value}", "be"),
    Rule("name", r"[^,;:!?]{1,60}? (?P<value><NAME>)\b[^;:]{0,60}[,.?!—–-] ?(?:(?:that|it)(?:'s| is)) my (?:real |full |first |actual )?name\b", "Is called {value}", asked=True),
    Rule("birthday", r"[^;:]{0,80}?\b(?P<value><DATE>)\b[^;:]{0,80}[,.?!—–-] ?(?:(?:that|it)(?:'s| is)|which is) my (?:birthday|b-?day|birth ?date)\b", "Has their birthday on {value}", asked=True),
    Rule("nickname", r"my nickname(?:'s| is|s) (?P<value><GIVEN>)<END>", "Wants to be called {value}"),
    Rule("age", r"(?:an? )?(?P<value><AGE>|<NUMBER>(?<!\d\d\d)(?= years? old))(?:[- ]?(?:years? old|yrs? old|yo|y/o|y\.o\.|years of age|years young|-year-old))?"
         r"(?=\s*(?:[,.;:!?()—–]|-\s|$)|\s+(?:and|but|so|with|now|today|already|this year|which|though|because|going on|from|living|years|nearly|next|since|as|who|if)\b|-)", "Is {value} years old", "be"),
    Rule("age", r"an? (?P<value><AGE>)[- ]?(?:years?|yrs?)[- ]?old\b", "Is {value} years old", "be"),
    Rule("age", r"aged? (?P<value><AGE>)\b", "Is {value} years old", "be"),
    Rule("age", r"(?:as|being) an? (?P<value><AGE>)[- ]?(?:years?|yrs?)[- ]?old\b", "Is {value} years old"),
    Rule("age", r"(?:being|as) (?P<value><AGE>),", "Is {value} years old"),
    Rule("name", r"[^,;:!?]{0,60}?\bmy name, (?P<value><NAME>),", "Is called {value}", asked=True),
    Rule("age", r"an? (?P<value><AGE>)[- ]?(?:years?|yrs?)[- ]?old\b(?= <ADJ>{0,4}?here\b)", "Is {value} years old"),
    Rule("age", r"(?P<value><AGE>)(?:[- ]years?[- ]old)?(?=,? (?:here|living|based|from|male|female|single|married|m\b|f\b|an? <TRADE>))", "Is {value} years old"),
    Rule("age", r"i(?:'ve|ve| have)?(?: (?:just|recently|finally|only))* turned (?P<value><AGE>)(?=\s*(?:[,.;:!?()—–]|$)|\s+(?:and|but|so|last|this|yesterday|today|on|in|a|an|two|three|which|recently|over|at|the|earlier)\b)", "Is {value} years old"),
    Rule("age", r"my age(?:'s| is) (?P<value><AGE>)\b", "Is {value} years old"),
    Rule("age", r"at (?:the (?:ripe (?:old )?)?age of )?(?P<value><AGE>),? i(?:'m| am| still| can| find| feel| have)\b", "Is {value} years old"),
    Rule("birthday", r"(?:my|the) (?:birthday|b-?day|birth ?date|date of birth|dob)(?:'s| is|s| falls| lands| comes)?(?: always| actually)?(?: up)?(?: on)? (?P<value><DATE>)", "Has their birthday on {value}"),
    Rule("birthday", r"i (?:was|am) born(?: (?:way )?back)?(?: on)?(?: a \w+day,?)? (?P<value><DATE>)", "Was born on {value}"),
    Rule("birthday", r"(?:(?:it|that)'s |on )?(?P<value><DATE>)(?:'s| is|,? which is|,? that's|,? also) my (?:birthday|b-?day|birth ?date|date of birth)", "Has their birthday on {value}"),
    Rule("birthday", r"(?:i|we) (?:celebrate|have|share) my birthday on (?P<value><DATE>)", "Has their birthday on {value}"),
    Rule("birthday", r"i(?:'ll| will)? (?:turn|be turning) <AGE> on (?P<value><DATE>)", "Has their birthday on {value}"),
)

ABOUT_PLACES: Final = (
    Rule("home", r"(?:live|reside|rent|have lived|'ve lived)(?: (?:alone|together|out|up|down|over|here|just|right|permanently|full-time|nowadays))*"
         r"(?: with my [\w-]+)? (?P<phrase>(?:in|near|outside|close to|at|on|around|next to|opposite) (?P<value><PLACE>))<END>", "Lives {phrase}", "do"),
    Rule("home", r"(?:live|rent|have a room)(?: (?:alone|together|out|up|down|over|here|right))* (?P<phrase>(?:in|on|by|near|at) (?P<value>(?:(?:an?|the|my|our) <ADJ>{0,4}?|<ADJ>{0,2}?)<DWELLING>(?: (?:near|in|of|by|on|outside|above) (?:the )?(?:<PLACE>|[\w-]+))?))<END>", "Lives {phrase}", "do", key=""),
    Rule("home", r"(?:i|we)(?:'ve|ve| have)(?: been living| lived)(?: here)? (?P<phrase>(?:in|near|on|at) (?P<value><TOWN>))(?= (?:for|since|all|ever|now|my whole)\b|\s*[,.;!?]|$)", "Lives {phrase}"),
    Rule("home", r"(?:living|based|residing|settled|at home|resident)(?: (?:here|just|now))? (?P<phrase>(?:in|near|outside|on|at) (?P<value><PLACE>))<END>", "Lives {phrase}", "be"),
    Rule("home", r"living (?P<phrase>(?:in|on|near) (?P<value>(?:an?|the|my|our) <ADJ>{0,4}?<DWELLING>))<END>", "Lives {phrase}", "be", key=""),
    Rule("home", r"(?:we're|we are) (?:living|based)(?: here)? in (?P<value><PLACE>)<END>", "Lives in {value}"),
    Rule("home", r"(?<![\s\S])(?:living|based|live)(?: here)? (?P<phrase>(?:in|near) (?P<value><PLACE>)),? ", "Lives {phrase}"),
    Rule("home", r"(?:my|our) (?:home|house|flat|apartment|place|cottage|home address|address|home base|base)(?:'s| is|, which is)?(?: located)?(?: (?:in|at|on|near|outside))? (?P<value><PLACE>)<END>", "Lives in {value}"),
    Rule("home", r"home (?:is|for me is|these days is|base is|now is)(?: (?:in|at|near))? (?P<value><PLACE>)<END>", "Lives in {value}"),
    Rule("home", r"[^,;:!?]{0,60}?\b(?:in|from|near) (?P<value><PLACE>),? (?:which is )?where (?:i|we) live\b", "Lives in {value}", asked=True),
    Rule("home", r"my (?:city|town|village)(?:'s| is|,) (?P<value><PLACE>)<END>", "Lives in {value}"),
    Rule("moved", r"<WE>(?:'ve|ve| have)?(?: (?:just|recently|finally|all|only|now|actually|also))*(?: <MOVE>)(?: (?:back|over|here|out|up|down|away|house|home|permanently|recently|all the way|across the country|in \w+))*"
         r"(?: from [^,.;]{1,40}?)? (?:to|into) (?P<value><PLACE>)<END>", "Lives in {value}"),
    Rule("moved", r"<WE>(?:'ve|ve| have)?(?: (?:just|recently|finally|all|only|now|actually|also))*(?: <MOVE>)(?: (?:back|over|here|out|up|down|away|house|home|permanently|recently))*"
         r"(?: from [^,.;]{1,40}?)? (?:to|into) (?P<value><TOWN>)<END>", "Moved to {value}", key=""),
    Rule("moved", r"(?:(?:ever )?since|after|having(?: just| recently)?) (?:moving|relocating|moved|relocated|my move|our move|the move|emigrating)(?: (?:over|back))? to (?P<value><PLACE>)<END>", "Lives in {value}"),
    Rule("moved", r"(?:my|our) (?:recent )?(?:move|relocation) (?:from <PLACE> )?to (?P<value><PLACE>) (?:was|went|has|is done)", "Lives in {value}"),
    Rule("moved", r"(?:i|we)(?:'ve| have)(?: (?:just|recently|finally))* (?:settled|resettled) (?:down )?in (?P<value><PLACE>)<END>", "Lives in {value}"),
    Rule("origin", r"(?:from|a native of) (?P<value><PLACE>)<END>", "Is from {value}", "be"),
    Rule("origin", r"(?:come|hail) (?:originally )?from (?P<value><PLACE>)<END>", "Is from {value}", "do"),
    Rule("origin", r"my (?:home ?town|birthplace)(?:'s| is) (?P<value><PLACE>)<END>", "Is from {value}"),
)
