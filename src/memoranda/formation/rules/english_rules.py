"""The English rules: people, life, taste, and requests to remember."""

from __future__ import annotations

from typing import Final

from memoranda.formation.rules.grammar import Reach, Rule

_LIST = Reach.LIST

# One rule a line, so that they read as a table.
# fmt: off

ABOUT_WORK: Final = (
    Rule("work", r"(?P<phrase>(?:the |an? )?(?P<value>(?:<ADJ>{0,3}?)(?:(?:head|director|vice president|manager|editor|principal|dean|chair|captain|chief) (?:of|at)|(?:<TRADE>|<TRADE_ENDING>|manager|lead|officer|representative|rep|specialist|supervisor|coordinator|co-ordinator|operator|contractor|agent|executive) (?:at|for|of)) (?:an? |the |my )?(?:<ORG>|<NP>)(?: (?:at|in|of) (?:the )?<CAP>(?: <CAP>){0,2})?))(?=\s*(?:[,.;:!?()—–]|-\s|$)|\s+(?:<STOPS>|living|based|working)\b)", "Is {phrase}", "be"),
    Rule("work", r"(?P<phrase>(?:the |an? )?(?P<value>(?:<ADJ>{1,3}?)(?:manager|lead|officer|representative|rep|specialist|supervisor|coordinator|co-ordinator|operator|contractor|executive|hygienist|assistant|clerk)))<END>", "Is {phrase}", "be"),
    Rule("work", r"(?:with|at) (?P<value><ORG> as an? <NP>)<END>", "Works with {value}", "be"),
    Rule("work", r"(?:work|freelance|volunteer) (?P<phrase>(?:for|at|with) (?P<value><ORG> as an? <NP>))<END>", "Works {phrase}", "do"),
    Rule("work", r"(?:i(?:'ve| have)? (?:just |recently |finally )?(?:got|been|was|am|just got) (?:promoted to|made|appointed)|they(?:'ve| have)? (?:just )?(?:made me|promoted me to|appointed me)|(?:got|just got|been) promoted to|my new (?:job|role|title|position) is)(?: the| an?)? (?P<value><NP>(?: (?:of|at) <NP>)?(?: at <ORG>)?)<END>", "Is {value}"),
    Rule("work", r"(?:the )?(?:real me is|in real life,? i'?m|irl i'?m) (?:an? )?(?P<value><NP>)<END>", "Is {value}"),
    Rule("work", r"<START>(?P<value>(?:<ADJ>{0,2}?)(?:<TRADE>|<TRADE_ENDING>)) by (?:trade|profession|day|training)\b", "Works as {value}"),
    Rule("work", r"(?P<value>deliver (?:the )?(?:mail|post|parcels|food|packages|papers)(?: for <ORG>)?)<END>", "Does for work: {value}", "do"),
    Rule("work", r"(?P<phrase>(?:an? )?(?P<value><JOB>))", "Is {phrase}", "be"),
    Rule("work", r"(?:the |an? )?(?P<value>(?:head|director|ceo|founder|co-founder|owner|manager|editor|principal|dean) (?:of|at) (?:an? |the |my )?<NP>)", "Is {value}", "be"),
    Rule("work", r"(?P<value>self-employed|unemployed|retired|semi-retired|between jobs|out of work)<END>", "Is {value}", "be"),
    Rule("work", r"(?:as|being) an? (?P<value><JOB>)(?=\s*,?\s+(?:i|we)\b|\s+(?:in|at|on|for|with)\b)", "Works as {value}"),
    Rule("work", r"<START>(?:working|employed) as (?P<phrase>an? (?P<value><NP>)),? i\b", "Works as {phrase}"),
    Rule("work", r"in (?P<value>(?!it\b)<FIELD>)(?=\s*(?:[,.;:!?]|$)| (?:and|so|but)\b)", "Works in {value}", "be"),
    Rule("work", r"<START>(?P<value><JOB>) here(?=\s*[,.!—–]|$)", "Works as {value}"),
    Rule("work", r"(?:work|freelance|moonlight|volunteer|serve)(?: (?:part-time|full-time|nights|days|freelance|remotely|shifts|there))* as (?P<phrase>(?:an? |the )?(?P<value><NP>))", "Works as {phrase}", "do"),
    Rule("work", r"(?:work|intern|have a job|freelance)(?: (?:part-time|full-time|nights|days|remotely|shifts|night shifts))* (?P<phrase>(?:at|for|with) (?P<value><ORG>))<END>", "Works {phrase}", "do"),
    Rule("work", r"(?:work|intern|have a job)(?: (?:part-time|full-time|nights|days|remotely|shifts|night shifts))* (?P<phrase>(?:at|for|in) (?:an?|the|our|my) (?!(?:moment|same|end|time|hour|day|night|morning|evening|living|while|office today)\b)(?P<value><NP>))", "Works {phrase}", "do"),
    Rule("work", r"work (?:part-time |full-time )?(?P<phrase>in (?P<value><FIELD>))<END>", "Works {phrase}", "do"),
    Rule("work", r"(?:i|we)(?:'ve|ve| have)?(?: (?:just|recently|finally))* (?:worked|been working|started|landed|begun|joined|got|accepted|begin|start|taken)(?: (?:an?|my)(?: new| first)?(?: [\w-]+){0,2} (?:job|role|position|post|gig)| working| work| out)?(?: (?P<phrase>(?:at|with|for) (?P<value><ORG>)))"
         r"(?= (?:for|since|as|last|this|and|in|on|but|now|today|yesterday|these|a|two|three)\b|\s*[,.;!?]|$)", "Works {phrase}"),
    Rule("work", r"(?:i|we)(?:'ve|ve| have)?(?: (?:just|recently))? (?:worked|been working) as (?P<phrase>an? (?P<value><NP>))(?= (?:for|since)\b)", "Works as {phrase}"),
    Rule("work", r"i(?:'ve| have)?(?: (?:just|recently))* joined (?P<value><ORG>)(?= as\b)", "Works for {value}"),
    Rule("work", r"(?:working|employed)(?: (?:part-time|full-time|now|these days))? as (?P<phrase>an? (?P<value><NP>))", "Works as {phrase}", "be"),
    Rule("work", r"(?:working|employed)(?: (?:part-time|full-time))? (?:at|by|for|with) (?P<value><ORG>)<END>", "Works for {value}", "be"),
    *(
        Rule(
            "work",
            rf"(?P<value>{verb} (?P<rest>(?:an?|my own|our own|our|my|the|two|three) <ADJ>{{0,4}}?<BUSINESS>(?: (?:in|near) <PLACE>)?))(?=\s*(?:[,.;:!?()—–]|-\s|$)|\s+(?:<STOPS>)\b)",
            f"{verb.capitalize()}s {{rest}}",
            "do",
        )
        for verb in ("run", "manage", "own", "co-own", "operate", "co-run")
    ),
    Rule("work", r"(?P<value>run (?P<rest>(?:an?|my own|our own) (?:small|little|tiny|family|family-run|local|online|independent|one-woman|one-man|busy) (?!(?:risk|fever|errand)\b)<NP>(?: in <PLACE>)?))<END>", "Runs {rest}", "do"),
    Rule("work", r"(?P<value>teach (?!(?:my|him|her|them|you|people|myself|this|it)\b)(?P<rest><NP>))", "Teaches {rest}", "do"),
    Rule("work", r"(?P<value>[a-z'-]+(?: [\w'-]+){0,5}) for a living\b", "Does for a living: {value}", "do"),
    Rule("work", r"my (?:(?:day|current|new|main|actual) )?(?:job|profession|occupation|trade|job title)(?:'s| is)(?: (?:being|that of))? (?:an? )?(?P<value><JOB>)", "Works as {value}"),
    Rule("work", r"by (?:trade|profession|day|training),? i'?m an? (?P<value><NP>)", "Works as {value}"),
    Rule("language", r"(?:can |also |both )*speak (?:(?:fluent|good|decent|excellent|native|basic|some|a (?:little|bit of)|passable|conversational|both|mainly|mostly|only) )*(?P<value><TONGUE>)(?! (?:words|class))", "Speaks {value}", "do", _LIST),
    Rule("language", r"(?:know|understand|read|use|sign) (?:(?:fluent|some|both) )*(?P<value><LANGUAGE_NAME>)<END>", "Speaks {value}", "do", _LIST),
    Rule("language", r"(?:can |also )*(?:speak|read|write|understand|converse in) (?P<value><LANGUAGE_NAME>)<END>", "Speaks {value}", "do", _LIST),
    Rule("language", r"(?:completely |almost |nearly |totally )?(?:fluent|bilingual|trilingual|proficient|conversational|native) in (?:both )?(?P<value><TONGUE>)", "Speaks {value}", "be", _LIST),
    Rule("language", r"an? (?:native|fluent|heritage|first-language|mother-tongue) (?P<value><TONGUE>)[- ]speaker", "Speaks {value}", "be"),
    Rule("language", r"an? (?:native|fluent|heritage) speaker of (?P<value><TONGUE>)", "Speaks {value}", "be"),
    Rule("language", r"my (?P<value><LANGUAGE_NAME>)(?:'s| is) (?:fluent|good|excellent|native|decent|rusty|perfect|basic|passable|pretty good|very good|quite good|near-native)\b", "Speaks {value}"),
    Rule("language", r"(?:my|our) (?:(?:native|first|second|third|home|main|strongest|family) (?:language|tongue)|mother tongue|mother language|household language)(?:s are|s were|'s| is) (?P<value><TONGUE>)", "Speaks {value}", "", _LIST),
    Rule("language", r"(?P<value><TONGUE>)(?:'s| is) (?:actually )?my (?:(?:native|first|second|third|home|main|strongest) (?:language|tongue)|mother tongue|mother language)", "Speaks {value}"),
    Rule("language", r"(?:i )?grew up (?:speaking|with|bilingual in) (?P<value><LANGUAGE_NAME>)<END>", "Speaks {value}", "", _LIST),
    Rule("language", r"(?:i )?(?:was born|was raised|grew up|born)[^,.;:!?]{0,40}? speaking (?P<value><LANGUAGE_NAME>)", "Speaks {value}", "", _LIST, anywhere=True),
    Rule("language", r"(?:(?:an? )?(?:deaf |blind |hard of hearing |native |fluent |daily )*)(?P<value><LANGUAGE_NAME>) (?:user|signer|speaker)(?: here\b|<END>)", "Speaks {value}", "be"),
    Rule("language", r"<START>(?:(?:deaf|blind|hard of hearing|native|fluent) )*(?P<value><LANGUAGE_NAME>) (?:user|signer|speaker) here\b", "Speaks {value}", anywhere=True),
    Rule("language", r"we speak (?P<value><TONGUE>) at home", "Speaks {value}"),
)

AGED = r"(?:\d{1,2}|<NUMBER>)(?:[- ](?:years?|months?)[- ]old)?"

ABOUT_OTHERS: Final = (
    Rule("family", r"(?:my|our) (?P<kin><KIN>)'s birthday(?:'s| is| falls)(?: always)?(?: on)?(?: the)? (?P<value><DATE>)", "{kin}'s birthday: {value}"),
    Rule("family", r"our (?P<who>(?:wedding )?anniversary) is(?: on)?(?: the)? (?P<value><DATE>)", "{who}: {value}"),
    Rule("family", r"(?:my|our) (?P<value><KIN>(?: is|'s| are) (?:(?:an? )?(?:strict )?<DIET>s?|allergic to (?!(?:you|me|work)\b)[\w'-]+(?: [\w'-]+)?|from <PLACE>))<END>", "{value}"),
    Rule("family", r"\b(?:my|our) (?P<value>(?:(?:little|older|younger|big|elder|eldest|youngest|oldest|twin|teenage|late-night) )?(?P<kin><KIN>),? (?P<who><CAP>(?:(?:, <CAP>){0,3},? and (?!I\b)<CAP>)?))(?!'s\b (?:friend|dog|cat))(?! (?:was|were|had|died|passed|used|says|said|told|wrote)\b)(?=\s*[,.;!?)(]|\s+[a-z]|'s|$)", "{kin}: {who}", anywhere=True),
    Rule("family", r"<WE> adopted (?P<value>(?:<COUNT> )?(?:twins|triplets|children|kids|baby|girls|boys|siblings|daughter|son))\b", "Has {value}", anywhere=True),
    Rule("family", r"<START>(?:proud |single |new |tired |stay-at-home |working )*(?P<value>(?:mum|mom|mother|dad|father|parent|grandma|grandpa|grandmother|grandfather) (?:of|to) (?:an? )?[\w-]+(?: (?:little |small |young |teenage )?<KIN>)?)(?: here\b|<END>)", "Is {value}"),
    Rule("family", r"(?P<value>(?:mum|mom|mother|dad|father|parent|grandma|grandpa) (?:of|to) (?:an? )?(?!(?:all|god)\b)[\w-]+(?: (?:little |small |young |teenage )?<KIN>)?)(?= by night\b| here\b)", "Is {value}"),
    Rule("pet", r"\b(?:my|our) (?P<value>(?:(?:old|new|little|big|elderly|rescue|beloved|poor|fat|deaf|blind|senior|young) )*(?P<kin><PET>),? (?P<who><CAP>(?: and (?!I\b)<CAP>)?))(?! (?:was|were|had|died|passed|used)\b)(?=\s*[,.;!?)(]|\s+[a-z]|'s|$)", "{kin}: {who}", anywhere=True),
    Rule("pet", r"(?:my|our) (?P<value>(?:<ADJ>{0,2}?)<PET>)(?='s (?:\d+|got|been|a|an|old|not|always|limping|sick|ill|scared|allergic|refusing|scratching|eating|barking|losing)\b)", "Has a {value}"),
    Rule("pet", r"\bthe (?P<value>(?:<ADJ>{0,2}?)<PET>) (?:that |which )?(?:i|we)(?:'ve| have)?(?: just| recently| finally)? (?:got|adopted|rescued|took in|brought home)\b", "Has a {value}", anywhere=True),
    Rule("pet", r"(?P<value><COUNT> (?:<ADJ>{0,2}?)<PET>)(?: with \w+(?: \w+)?)?(?:, (?:an?|two|three|\w+) (?:<ADJ>{0,2}?)<PET>(?: with \w+)?){0,4}[^.!?]{0,60}(?:that's|make up|are|is) my (?:household|family|zoo|menagerie|crew|gang|home)", "Has {value}", "", _LIST),
    Rule("family", rf"(?:my|our) (?P<value>(?:(?:little|older|younger|big|elder|eldest|youngest|oldest|middle|twin|dear|lovely|baby|teenage|adult|own|only|first|{AGED}) )*"
         r"(?P<kin><KIN>)(?:'s called|'s named| is called| is named| are called| are named|'s name is|'s name's|s' names are) (?P<who><NAME>(?:(?:, <NAME>){0,3},? and <NAME>)?))<END>", "{kin}'s name is {who}"),
    Rule("family", r"(?:my|our) (?P<value>(?:(?:little|older|younger|big|elder|eldest|youngest|oldest|twin|teenage) )?(?P<kin><KIN>)(?:,|) (?P<who><NAME>(?:(?:, <NAME>){0,3},? and <NAME>)?))(?! (?:was|were|had|died|passed|used)\b)(?! and i\b)(?=\s*[,.;!?)(]|\s+[a-z]|'s|$)", "{kin}'s name is {who}"),
    Rule("family", r"(?P<value>(?:my )(?P<kin><KIN>))(?= and i\b)", "Has a {kin}"),
    Rule("family", rf"(?:my|our) (?P<value>(?:<KIN>)(?: is|'s| are|'re) (?:(?:only|just|now|already|nearly|almost) )?{AGED}(?:(?:, {AGED}){{0,3}},? and {AGED})?(?: (?:years?|months?|weeks?) old)?)(?=\s*(?:[,.;:!?)(]|$)|\s+(?:and|but|so)\b)", "{value}"),
    Rule("family", r"(?:my|our) (?P<value><KIN>(?: is|'s| are) (?:deaf|blind|autistic|dyslexic|disabled|adopted|colou?r-?blind|left-handed|diabetic|epileptic|hard of hearing|mute|expecting|pregnant|<NATION>|an? <JOB>))(?=\s*(?:[,.;:!?)(]|$)|\s+(?:<STOPS>)\b)", "{value}"),
    Rule("family", r"(?P<phrase>(?P<value>(?:<COUNT> (?!(?:not|no)\b)(?:[\w'-]+ ){0,3}?<KIN>|(?:[\w-]+ )?(?:twins|triplets|kids|children|grandchildren|grandkids)))(?P<called> (?:called|named) <NAME>(?:(?:, <NAME>){0,3},? and <NAME>)?)?)(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>|under|aged|of|all|under)\b)", "Has {phrase}", "have"),
    Rule("family", r"(?P<phrase>an? (?P<value>(?:(?:single|new|proud|stay-at-home|first-time|working|adoptive|foster|step) )*(?:mum|mom|mother|dad|father|parent|stepmum|stepmother|stepdad|stepfather|grandmother|grandfather|grandma|grandpa|grandparent|nan|gran)(?: (?:of|to) (?:an? )?(?!(?:all|be)\b)[\w-]+(?: (?:little |small |young |teenage )?<KIN>)?)?))(?=\s*(?:[,.;:!?)(]|$)|\s+(?:<STOPS>)\b)", "Is {phrase}", "be"),
    Rule("family", r"(?P<phrase>(?:an? |the |one of )?(?P<value>(?:only child|orphan|(?:identical )?twin|triplet|widow|widower|newlywed|(?:eldest|oldest|youngest|middle(?: child)?|second|third|one) of (?:\w+)(?: (?:siblings|kids|children|brothers|sisters))?))(?=\s*(?:[,.;:!?)(]|$)|\s+(?:<STOPS>)\b))", "Is {phrase}", "be"),
    Rule("family", r"(?:happily |newly |recently |finally )?(?P<value>married|divorced|separated|widowed|single|engaged|newly married)(?! to (?:my|the|this|an?)\b)(?P<to> to <NAME>)?(?=\s*(?:[,.;:!?)(]|$)|\s+(?:<STOPS>)\b)", "Is {value}", "be"),
    Rule("family", r"(?:we're|we are) (?P<value>married|engaged|divorced)<END>", "Is {value}"),
    Rule("pet", r"my (?P<value>(?:<ADJ>{0,2}?)(?P<kin><PET>)(?:'s called|'s named| is called| is named| are called| are named|'s name is|'s name's|s' names are) (?P<who><GIVEN>(?: and <GIVEN>)?))<END>", "{kin}'s name is {who}"),
    Rule("pet", r"(?:my|our) (?P<value>(?:<ADJ>{0,2}?)(?P<kin><PET>)(?:,|) (?P<who><NAME>(?: and <NAME>)?))(?! (?:was|were|had|died|passed|used)\b)(?=\s*[,.;!?)(]|\s+[a-z]|'s|$)", "{kin}'s name is {who}"),
    Rule("pet", r"our (?P<value>(?:<ADJ>{0,2}?)(?P<kin><PET>)(?:'s called| is called| is named|'s name is) (?P<who><NAME>))<END>", "{kin}'s name is {who}"),
    Rule("pet", r"(?:with|and) my (?P<value>(?:<ADJ>{0,1}?)<PET>)<END>", "Has a {value}"),
    Rule("pet", r"(?:my|our) (?P<value>(?:<ADJ>{0,2}?)<PET>)(?= (?:won't|wont|keeps?|is|are|isn't|has|have|hates?|loves?|refuses?|barks?|eats?|sheds?|scratches|snores|sleeps?|needs?|doesn't|don't|just|always|never|can't|wakes?|chews?|likes?|gets?|(?!was|does|dies|passes)[a-z]{2,}s|and i)\b(?! (?:died|dead|passed)))(?!'s name)", "Has a {value}"),
    Rule("pet", r"(?P<phrase>(?P<value><COUNT> (?!hot\b)<ADJ>{0,3}?<PET>(?:,? (?:called|named) <NAME>(?:(?:, <NAME>){0,3},? and <NAME>)?|, (?!(?:Can|Could|What|How|Is|Are|Do|Does|Any|Please|And|But|So|Where|Which|Why|When|Who|Should|Would|Will|I|We|It|She|He|They|My|The)\b)<CAP>(?=[,.;!?]|$))?))(?! in (?:my|the)\b)(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Has {phrase}", "have"),
    Rule("pet", r"(?:own|keep|am owned by|share (?:my|our) (?:home|flat|life|house) with|look after|adopted|rescued|just adopted|have adopted|have just adopted|got) (?P<phrase>(?P<value>(?:<COUNT> )?<ADJ>{0,3}?<PET>(?: (?:called|named) <NAME>(?: and <NAME>)?)?))(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Has {phrase}", "do"),
    Rule("pet", r"(?:i|we)(?:'ve|ve| have)(?: (?:just|recently))* (?:had|owned|kept|adopted|rescued|got|gotten) (?P<phrase>(?P<value><COUNT> <ADJ>{0,3}?<PET>(?: (?:called|named) <NAME>)?))(?= (?:for|since|from|and|called|named|who|that|last|this)\b|\s*[,.;!]|$)", "Has {phrase}"),
    Rule("pet", r"(?:an?|the) (?:proud |happy |new |first-time )*(?:owner|parent|mum|mom|dad) (?:of|to) (?P<phrase>(?P<value><COUNT> <ADJ>{0,3}?<PET>(?: (?:called|named) <NAME>)?))<END>", "Has {phrase}", "be"),
)

ABOUT_THINGS: Final = (
    Rule("possession", r"(?:our|my) (?P<who>(?:<ADJ>)?(?:team|company|startup|department|codebase|code base|backend|frontend|back end|front end|app|stack|project|product|website|infrastructure)) (?:(?:now|currently|mostly|mainly|only|still) )?(?P<verb>uses|runs on|is (?:built|written|hosted) (?:in|on|with)|(?:is|runs) (?:in|on)(?= (?-i:[A-Z]))) (?P<value>(?!(?:a|an|the|it|this|that|these|too|more|less|up|time|people|me)\b)\w)", "{who} {verb} {value}", "", Reach.PHRASE),
    Rule("possession", r"we (?:(?:all|mostly|mainly|only|still|now) )?(?:use|work with|run on) (?P<value><CAP>)(?=.*\b(?:at work|at the office|for work|in our team|on (?:our|my) (?:team|project))\b)", "Uses at work: {value}", "", _LIST),
    Rule("possession", r"(?:i|we)(?:'ve|ve| have)?(?: (?:just|recently|finally|also))* (?:bought|purchased|built|inherited) (?P<phrase>(?P<value>(?:an?|our (?:first|own)|my (?:first|own)) <ADJ>{0,3}?<DWELLING> (?:in|near|outside|by) <PLACE>))<END>", "Has {phrase}"),
    Rule("possession", r"(?:an? )?(?P<value>(?:<ADJ>{0,2}?)<MAKE>)<END>", "Has {value}", "have"),
    Rule("possession", r"(?:i|we)(?:'ve| have)?(?: (?:just|recently|finally))* (?:bought|got|leased|inherited|picked up) (?:an? )?(?P<value>(?:<ADJ>{0,2}?)<MAKE>)", "Has {value}"),
    Rule("possession", r"(?:drive|ride) (?:an? |my |the )?(?P<value>(?:<ADJ>{0,2}?)<MAKE>)<END>", "Drives {value}", "do"),
    Rule("possession", r"(?P<value>(?:<ADJ>{0,2}?)(?-i:[A-Z][a-z]+ [A-Z0-9][\w-]*\d[\w-]*))(?=\s*(?:[,.;:!?()—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Has {value}", "havea"),
    Rule("possession", r"\b(?:my|our) (?:(?:old|new|trusty|beloved|little|battered|ancient|poor|dear) )*(?P<value><MAKE>)", "Has {value}", anywhere=True),
    Rule("possession", r"(?P<phrase>(?P<value><COUNT> <ADJ>{0,4}?<THING>(?: from (?:the )?[\w']+(?: [\w']+)?)?))(?! in mind)(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Has {phrase}", "have"),
    Rule("possession", r"(?P<phrase>(?P<value>(?:an?|two|three|four|several|some|my own|our own|one) (?!(?:point|stake|mistakes?)\b|(?:<ADJ>{0,2}?)<BUSINESS>\b)<NP>(?: from the <NP>| in <PLACE>)?))", "Owns {phrase}", "own"),
    Rule("possession", r"(?:drive|ride|fly|sail) (?P<phrase>(?:an?|my own|two) (?!hard bargain|point|wedge|bus for|taxi for)(?P<value><ADJ>{0,4}?(?:<THING>|<CAP>(?: [\w-]+)?)))(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Drives {phrase}", "do"),
    Rule("possession", r"(?:i|we)(?:'ve|ve| have)?(?: (?:just|recently|finally|also))* (?:bought|inherited|acquired|picked up|purchased|built|was given|were given|been given|got myself|treated myself to|restored)(?: myself| ourselves)? (?P<phrase>(?P<value>(?:an?|two|three|some|my own) <ADJ>{0,4}?<THING>(?: from (?:the )?[\w']+)?))(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Has {phrase}", "got"),
    Rule("possession", r"(?:my|our) <ADJ>{0,2}?<THING>(?:'s| is) (?P<phrase>(?:an?) (?P<value><ADJ>{0,3}?(?:<THING>|(?:<CAP>(?: [\w-]+){0,2}))))(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Has {phrase}"),
    Rule("possession", r"(?:an?|the) (?:proud |happy |new )*owner of (?P<phrase>(?:an?|two|three|some) (?P<value><NP>))", "Owns {phrase}", "be"),
)


# One rule a line, so that they read as a table.
# fmt: off

ABOUT_PEOPLE: Final = (
    Rule("name", r"my name(?:'s not| isn't| is not) <NAME>,? (?:it's|it is|but) (?P<value><GIVEN>)<END>", "Is called {value}"),
    Rule("name", r"(?P<value><CAP>) on (?:paper|my passport|official documents|my id|my birth certificate)\b", "Is called {value}"),
    Rule("nickname", r"(?:can|could|would|will) you (?:please |just |pls )?call me (?P<value><NAME>)(?: instead| please| from now on)?\W*$", "Wants to be called {value}", asked=True),
    Rule("age", r"<START>(?:just )?turned (?P<value><AGE>)(?=\s*(?:[,.;:!?()—–]|$)|\s+(?:and|but|so|last|this|yesterday|today|on|in|a|an|two|three|recently|over|the|earlier)\b)", "Is {value} years old"),
    Rule("name", r"my (?:(?:full|first|given|real|legal|actual) )?name(?:'s| is)(?: actually)? (?P<value><GIVEN>)<END>", "Is called {value}"),
    Rule("name", r"(?:the )?name(?:'s| is) (?P<value><NAME>)<END>", "Is called {value}"),
    Rule("name", r"(?:called|named) (?P<value><NAME>)<END>", "Is called {value}", "be"),
    Rule("name", r"you(?:'re| are) (?:talking|speaking|chatting|writing) (?:to|with) (?P<value><NAME>)<END>", "Is called {value}"),
    Rule("name", r"(?:this is|it's|it is) (?P<value><NAME>)(?: (?:here|speaking|again|from)\b|,? (?:your|the|from|can|could|i|i'm|please|calling|writing|and i|who)\b)", "Is called {value}"),
    Rule("name", r"<START>(?!<TRADE>|<DIET>)(?P<value><NAME>) here(?=\s*[,.!—–]|\s+(?:again|from)\b|$)", "Is called {value}"),
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
    Rule("origin", r"(?:(?:i was|i'm|i am|i|was) )?(?:born(?: and (?:raised|bred))?|raised|grew up|brought up)(?: (?:mostly|partly|right|here))? (?:in|near|on) (?P<value>(?!(?:January|February|March|April|May|June|July|August|September|October|November|December)\b)<PLACE>)(?=\s*(?:[,.;:!?()\n—–]|-\s|$)|\s+(?:<STOPS>|speaking|not)\b)", "Is from {value}"),
    Rule("origin", r"(?:originally )?from (?P<value><PLACE>)(?: originally)(?=\s*[,.;!?]|\s+(?:<STOPS>)\b|$)", "Is from {value}", "be"),
    Rule("origin", r"\b<CAP> here from (?P<value><PLACE>)<END>", "Is from {value}", anywhere=True),
    Rule("origin", r"\b(?:i'm|i am) an? (?:<ADJ>{0,3})(?:<TRADE>|<TRADE_ENDING>|girl|guy|boy|lad|lass|woman|man|mum|mom|dad|\d\d[- ]year[- ]old(?: \w+){0,2}) from (?P<value><PLACE>)<END>", "Is from {value}", anywhere=True),
    Rule("home", r"now in (?P<value><PLACE>)(?=\s*[,.;!]|$)", "Lives in {value}"),
    Rule("moved", r"<START>(?:(?:just|recently|finally|newly) )*<MOVE>(?: (?:over|back|here|out))?(?: from [^,.;]{1,40}?)? to (?P<value><PLACE>)<END>", "Lives in {value}"),
    Rule("home", r"(?:now |currently )?(?:living|based|settled) in (?P<value><PLACE>)(?= (?:these days|now|nowadays|since|for (?:the|a|\w+ years))\b|\s*[.!]?$)", "Lives in {value}"),
    Rule("home", r"(?:i'm|i am|we're|we are) (?:now |currently |back )?(?:living )?in (?P<value><PLACE>)(?: now\b| these days| nowadays| since \w+| for good)", "Lives in {value}"),
    Rule("home", r"(?:(?:i'm|i am|we're|we are) )?back (?:living )?in (?P<value><PLACE>)(?= (?:since|for good|now|again)\b)", "Lives in {value}"),
    Rule("home", r"(?:we|i)(?:'ve| have) been in (?P<value><PLACE>)(?= (?:since|for)\b)", "Lives in {value}"),
    Rule("home", r"(?:live|reside)(?: just| right| a bit| a little)* (?P<phrase>(?:outside|north of|south of|east of|west of|close to|not far from|in the suburbs of|on the outskirts of) (?P<value><PLACE>))<END>", "Lives {phrase}", "do"),
    Rule("home", r"(?:my|our|the) new (?:place|flat|apartment|house|home)(?:'s| is)(?: located)? in (?P<value><PLACE>)<END>", "Lives in {value}"),
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


_CLAUSE = Reach.CLAUSE

# One rule a line, so that they read as a table.
# fmt: off

ABOUT_REQUESTS: Final = (
    Rule("instruction", r"(?P<value>(?:go )?back to <LANGUAGE_NAME>)(?: from (?:here|now) on)(?: please)?", "{value}", asked=True),
    Rule("instruction", r"(?:so )?(?:please|pls|plz) (?P<value>(?:keep (?:your )?(?:sentences|answers|replies|it|things|explanations)|use (?:simple|plain|short|easy|metric|imperial|british|american)|write in (?:simple|plain|short)|stick to) (?!this\b|that\b)[^.!?,;:]{2,60})(?=\s*[.!,;]|$)", "{value}", asked=True),
    Rule("instruction", r"<START>(?:please |pls )?(?P<value><VERB> [^.!?,;:]{2,60}?)(?: please| pls)?, (?:in|for) (?:all|every|each) (?:of )?(?:your |our |my )?(?:answers?|repl(?:y|ies)|responses?|messages?|chats?)\b", "{value}", asked=True),
    Rule("instruction", r"(?:please|pls) (?P<value>(?:answer|reply|respond|write|speak|talk|chat)(?: to me| with me| back| me)? in (?:(?:british|american|plain|simple|formal|informal|easy) )?<LANGUAGE_NAME>)(?=\s*[.!]?\s*$)", "{value}"),
    Rule("instruction", r"(?:please |pls )?(?P<value>(?:don't|do not|dont|never|stop) (?:use|using|write|writing|add|adding|send|sending|put|putting|include|including) (?:any |so many )?(?:emojis?|smileys?|exclamation marks|bullet points|em dash(?:es)?|markdown|jargon|slang|abbreviations|headings|tables|footnotes|anglicisms)(?: (?:with|to|for) me| in your \w+)?)(?:,? please)?(?=\s*[.!]?\s*$)", "{value}", asked=True),
    Rule("instruction", r"in (?:all|every|each)(?: of)?(?: your)? (?:answers?|repl(?:y|ies)|responses?|messages?),? (?:please )?(?P<value>(?:<VERB>|no) [^.!?]{2,120})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?<![\s\S])(?P<value>stop (?:calling|using|adding|writing|putting|giving|saying|asking|apologi[sz]ing|repeating|ending|starting|suggesting|telling|including|recommending|sending|making) [^.!?]{2,120})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:please |pls )*<EVER>[,:]? (?:please |i(?:'d| would) like you to |i want you to |you should |could you |can you |i need you to )*(?P<value>(?!call me|remember\b)(?:<VERB>|no )\b[^.!?]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?<![\s\S])(?:<WHENEVER>)(?: (?:please|always|just|then|i(?:'d| would) like you to|i want you to|you should))* (?P<value>(?:<VERB>)\b[^.!?]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:please |pls |also |and |just )*(?P<value>(?:always|never|(?:don't|do not|dont) ever) (?:ever )?<VERB> [^.!?]{2,160})", "{value}", "order", _CLAUSE, asked=True),
    Rule("instruction", r"(?<![\s\S])(?:please |pls )*(?:make sure|be sure|ensure|remember|don't forget)(?: that)?(?: you| to)* (?P<value>(?:always|never) (?:ever )?<VERB> [^.!?]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:i(?:'d| would)? (?:want|like|need|prefer|expect|love) (?:for )?you to|you (?:should|must|need to|have to|can)|(?:can|could|would|will) you(?: please)?|i(?:'d| would) (?:prefer|like|appreciate) it if you(?: would)?) (?P<value>(?:always|never) (?:ever )?[a-z]+ [^.!?]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?<![\s\S])(?:please |pls )*(?:(?:can|could|would|will) you (?:please |pls )?)?(?P<value>(?!call me)(?:don't|do not|dont|<VERB>) [^.!?]{2,160}?)(?=,?(?: please| pls)?,? (?:from now on|from here on|going forward|in (?:the )?future|ever again|as a rule|by default|at all times|every time|each time|when(?:ever)? you (?:write|answer|reply|talk|respond|speak|explain|message)|whenever (?:i|you|we)|in all (?:your|our)|for all (?:our|your|my)|in every (?:answer|reply|message)|in any (?:answer|reply|message)|in your (?:answers|replies|responses|messages))\b)", "{value}", asked=True),
    Rule("instruction", r"(?<![\s\S])no more (?P<value>(?:emojis?|bullet points|exclamation marks|apologies|disclaimers|jokes|puns|small talk|lists|tables|headings)\b[^.!?]{0,60})", "No more {value}", asked=True),
    Rule("instruction", r"<START>(?P<value>(?:every|each|all(?: of)?)(?: your| the)? (?:answers?|repl(?:y|ies)|responses?|messages?) (?:should|must|needs? to|has to|have to) [^.!?]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"i (?P<value>(?:always|never) (?:want|need) [^.!?]{2,160})", "{value}", reach=_CLAUSE),
    Rule("remember", r"(?:(?:can|could|will|would) you |please |pls |plz |i(?:'d| would) like you to |i want you to |i need you to |<EVER>,? |you should |you need to |do |also |and )*"
         r"(?:please |pls |always |just )*(?:re?m(?:em)?be?r|rememebr|remeber|keep (?:this |it )?in mind|bear (?:this |it )?in mind|note to self|reminder(?: to self)?|don't forget|do not forget|dont forget|never forget|make a (?:mental )?note|take (?:a )?note|(?<=please )note|note down|note(?=:| that (?:my|our|i|we)\b)|write down|jot down|memori[sz]e|this is|name|name's|as an?|being|save|store|log|hold on to the fact|file away)"
         r"(?: (?:for me|for later|for next time|for the future|somewhere|please|this|down))*(?: that|: ?|,| -| —|,? that) (?P<value>(?!(?:time|day|one|moment|scene|song|film|movie|episode|feeling)\b)\w[^?! ]* [^?!]{2,300})", "{value}", reach=_CLAUSE, asked=True),
    Rule("remember", r"(?:(?:can|could|will|would) you |please |pls |plz |i(?:'d| would) like you to |i want you to |i need you to |<EVER>,? |also |and )*"
         r"(?:please |pls |always |just )*(?:re?m(?:em)?be?r|rememebr|remeber|keep in mind|bear in mind|don't forget|do not forget|dont forget|note)"
         r"(?: (?:for me|for later|please))* (?P<value>(?:my|our|the|i|we|<CAP>)\b[^?!]{0,60}? (?:is|are|isn't|aren't|has|have|was|were|will|won't|goes?|lives?|needs?|starts?|ends?|closes?|opens?|costs?|comes?|runs?|takes?|changes?|means?|leaves?|lands?|arrives?|departs?|visits?|expires?|turns?|moves?|stays?|meets?|happens?|falls?|sits?|plays?|works?|keeps?|ships?|belongs?|hangs?|got|gets?|stands?|hates?|loves?|likes?|prefers?|can't|can|must|don't|doesn't)\b[^?!]{1,200})", "{value}", reach=_CLAUSE, asked=True),
)


_TASTE_LIST, _PHRASE = Reach.LIST, Reach.PHRASE

# One rule a line, so that they read as a table.
# fmt: off

FAN = (
    "(?:an? (?:(?:really |very )?(?:big|huge|massive|great|lifelong|longtime|long-time|die-hard|avid|total|enormous|proper|keen|dedicated|devoted|"
    "passionate) )?(?:fan of|lover of|enthusiast of|admirer of)|(?:crazy|mad|nuts|passionate|wild|enthusiastic|bonkers) (?:about|for)|"
    "(?:big )?into|keen on|fond of|partial to|hooked on|obsessed with|in love with|at my happiest when|happiest)"
)

LOVE = "(?:love|like|enjoy|adore|appreciate|treasure|relish|cherish|dig|fancy|have a (?:soft spot|weakness|passion|thing) for|have always (?:loved|liked))"

HATE = "(?:hate|detest|loathe|despise|dislike|abhor|can'?t (?:stand|bear|abide|stomach)|cannot (?:stand|bear|abide|stomach)|can not (?:stand|bear|abide))"

ILL = (
    "(?:asthma|epilepsy|diabetes|coeliac disease|celiac disease|coeliac|celiac|arthritis|osteoarthritis|ibs|ibd|irritable bowel(?: syndrome)?|crohn'?s(?: disease)?|colitis|multiple sclerosis|ms|hearing loss|tinnitus|adhd|add|autism|asperger'?s|dyslexia|dyspraxia|"
    "dyscalculia|migraines?|depression|anxiety|high blood pressure|low blood pressure|hypertension|heart (?:condition|disease|failure|problems?|murmur)|scoliosis|endometriosis|pcos|lupus|fibromyalgia|psoriasis|eczema|gout|parkinson'?s(?: disease)?|"
    "(?:\\w+ )?cancer|leuka?emia|hiv|hepatitis(?: [a-c])?|hypothyroidism|hyperthyroidism|hashimoto'?s|an underactive thyroid|underactive thyroid|thyroid (?:disease|problems?)|insomnia|sleep apn(?:o)?ea|narcolepsy|an?emia|haemophilia|hemophilia|osteoporosis|vertigo|"
    "glaucoma|cataracts|macular degeneration|acid reflux|reflux|gerd|(?:chronic )?kidney disease|cerebral palsy|cystic fibrosis|muscular dystrophy|spina bifida|ptsd|ocd|bipolar(?: disorder)?|schizophrenia|sickle cell(?: disease| an?emia)?|copd|emphysema|long covid|"
    "chronic (?:pain|fatigue(?: syndrome)?)|tourette'?s(?: syndrome)?|raynaud'?s|ehlers-danlos|pots|hernia|a slipped disc|slipped disc|sciatica|carpal tunnel|colou?r blindness|face blindness|high cholesterol|a disability|an? eating disorder|"
    "\\w{4,}(?:itis|osis|a?emia|algia|pathy|lepsy|plegia|phrenia))"
)
IMPAIRED = (
    "(?:(?:colou?r[- ])?blind|deaf(?:blind)?|hard of hearing|(?:type (?:1|2|one|two) )?diabetic|dyslexic|autistic|epileptic|asthmatic|bipolar|an?emic|immunocompromised|immunosuppressed|disabled|paralysed|paralyzed|paraplegic|quadriplegic|tetraplegic|visually impaired|"
    "hearing impaired|partially sighted|neurodivergent|hypertensive|arthritic|schizophrenic|nonverbal|in remission|wheelchair[- ]bound|lactating|breastfeeding|hypothyroid|housebound)"
)
MEDICINE = (
    "(?:warfarin|blood thinners?|insulin|metformin|levothyroxine|lithium|beta[- ]blockers?|statins?|antidepressants|ssris?|sertraline|prozac|fluoxetine|prednisone|prednisolone|steroids for \\w+|methotrexate|lisinopril|ramipril|amlodipine|apixaban|xarelto|eliquis|"
    "immunosuppressants|chemo(?:therapy)?|dialysis|hrt|testosterone|ritalin|adderall|anticoagulants|antiepileptics|keppra|lamotrigine|ozempic|humira|(?:medication|medicine|tablets|pills|meds) for (?:my )?\\w+(?: \\w+)?)"
)

ABOUT_FOOD: Final = (
    Rule("health", r"(?:an? )?(?P<value>coeliac|celiac)(?: disease)?<END>", "Is {value}", "be"),
    Rule("health", rf"(?:an? |the |some )?(?:(?:severe|mild|chronic|bad|terrible|mild|diagnosed|permanent|partial|early-onset|long) )*(?P<value>(?:(?:type (?:1|2|one|two)|gestational|high|low|ulcerative|rheumatoid|multiple|bipolar|irritable|chronic|congenital|celiac|coeliac|complete|partial|severe) )?(?:{ILL})(?: in (?:both|my|one) \w+(?: \w+)?)?)(?=\s*(?:[,.;:!?()—–]|-\s|$)|\s+(?:<STOPS>|making|which|quite|pretty|really)\b)", "Has {value}", "have", _LIST),
    Rule("health", rf"(?:suffer from|live with|struggle with|deal with|cope with|manage|was diagnosed with|got diagnosed with|been diagnosed with|have been diagnosed with|was just diagnosed with|am recovering from|'ve been diagnosed with)(?: (?:severe|mild|chronic|bad))* (?P<value>{ILL})<END>", "Has {value}", "do", _LIST),
    Rule("health", rf"(?:i was|i've been|i have been|i got|just got|just been|i'm|been)(?: (?:just|recently|newly|finally))? diagnosed with (?:(?:severe|mild|chronic|an?) )*(?P<value>{ILL})\b", "Has {value}"),
    Rule("health", rf"\b(?:as (?:someone|somebody|a person|one)|i'm (?:someone|somebody|a person|an? [\w -]{{2,30}}?)|i am (?:someone|a person|an? [\w -]{{2,30}}?)) (?:with|living with|who has|who lives with) (?P<value>{ILL})\b", "Has {value}", anywhere=True),
    Rule("health", rf"(?:it's|it is|turns out (?:it's|i have|to be)|it turned out to be) (?P<value>{ILL})(?=\s*[,.;!]|$)", "Has {value}"),
    Rule("health", rf"(?:an? )?(?:(?:totally|completely|legally|partially|profoundly|severely|almost|newly|technically) )?(?P<value>{IMPAIRED})(?=\s*(?:[,.;:!?()—–]|-\s|$)|\s+(?!to\b)(?:<STOPS>|when|which)\b)(?! with (?:rage|love|anger))", "Is {value}", "be"),
    Rule("health", rf"(?:as|being) (?:an? )?(?P<value>{IMPAIRED})(?: person| user| guy| woman| man| student)?(?=\s*,)", "Is {value}"),
    Rule("health", r"(?:as|being) an? (?P<value>wheelchair user|cancer survivor|amputee|(?:kidney|heart|liver|lung) transplant (?:recipient|patient)|haemophiliac|hemophiliac)\b", "Is {value}"),
    Rule("health", rf"<START>(?P<value>{IMPAIRED})(?: \w+){{0,2}} here\b", "Is {value}"),
    Rule("health", r"(?:(?:about|around|almost|nearly|already) )?(?P<value>(?:\w+ (?:weeks|months) )?pregnant|expecting(?: (?:a baby|twins|our (?:first|second|third)))?|\d{1,2} weeks along)(?! with (?:ideas|meaning))<END>", "Is {value}", "be"),
    Rule("health", r"(?:use|need|get around in|get about in|rely on) (?:an? )?(?P<value>(?:manual |electric |power |motorised )?(?:wheelchair|walking frame|walker|white cane|guide dog|hearing aids?|cochlear implants?|insulin pump|oxygen tank|cpap(?: machine)?|prosthe\w+(?: \w+)?))<END>", "Uses {value}", "do"),
    Rule("health", r"(?:in|confined to|stuck in) an? (?P<value>(?:electric |manual )?wheelchair)\b", "Uses {value}", "be"),
    Rule("health", r"(?:an? )?(?P<value>wheelchair user|(?:kidney|heart|liver|lung) (?:transplant )?(?:recipient|patient)|cancer survivor|amputee|haemophiliac|hemophiliac)\b", "Is {value}", "be"),
    Rule("health", r"(?:an? |two |my )?(?P<value>pacemaker|hearing aids?|cochlear implants?|insulin pump|stoma|prosthetic (?:leg|arm|hip|hand)|artificial (?:hip|heart valve|knee)|heart valve|defibrillator|stent|hip replacement|metal plate in my \w+)<END>", "Has {value}", "have"),
    Rule("health", rf"(?:take|am on|'m on|inject|use)(?: \w+ly)? (?P<value>{MEDICINE})\b", "Takes {value}", "do"),
    Rule("health", rf"(?:i'm|i am|i've been|been) on (?P<value>{MEDICINE})\b", "Takes {value}"),
    Rule("health", r"(?:(?:i|i've|i have|we) )?(?:had|have had|'ve had) (?:an? |my )(?P<value>(?:kidney|heart|liver|lung|bone marrow|cornea) transplant|(?:double |triple |quadruple )?bypass|stroke|heart attack|mastectomy|hip replacement|knee replacement|gastric bypass|splenectomy|colostomy)(?=\s*(?:[,.;!?]|$)|\s+(?:in|last|at|and|two|three|\w+ (?:years|months|weeks) ago|this|when|so)\b)", "Had {value}"),
    Rule("allergies", r"(?:my|the|our) (?:doctor|gp|allergist|physician|dermatologist|consultant|specialist|nurse|paediatrician|pediatrician|test results?|tests?)(?: just| now)? (?:says?|said|thinks|told me|tells me|confirmed|reckons|found(?: out)?|shows?|showed|suspects)(?: that)? i(?:'m| am)(?: (?:severely|very|badly|probably|definitely|actually|highly|mildly|now))? allergic to (?P<value>\w)", "Is allergic to {value}", "", _TASTE_LIST),
    Rule("allergies", r"(?P<value>(?!(?:it|that|this|he|she|they|which|what|work|people|mondays?|meetings?|my|your|his|her|their|someone|everyone|something|everything|these|those|love|traffic)\b)[\w'-]+(?: (?!(?:and|or|but|to|that|is|are)\b)[\w'-]+){0,2}?) (?:(?:always|really|sometimes|usually|just|even) )?"
         r"(?:makes? my (?:throat|lips?|tongue|face|mouth|eyes|skin|hands?)\b[^.?!,;]{0,20}? (?:swell|itch|close|tingle|burn|puff|hurt|blow|break|water)|gives? me (?:an? )?(?:hives|(?:\w+ )?rash|anaphyla\w+|welts|swelling)|makes? me (?:break out|swell|wheeze|come out|itch|sneeze)|brings? me out in|break(?:s)? me out in|"
         r"(?:sends?|sent|puts?|put|landed|(?:have|has) (?:put|sent|landed)) me (?:in|to|into) (?:the )?(?:er\b|a&e|hospital|emergency|anaphyla\w+|icu)|closes? my throat|could kill me|(?:will|would|can|might) kill me)", "Is allergic to {value}"),
    Rule("allergies", r"(?:if|when|whenever|every time) i (?:eat|have|touch|drink|smell) (?:any )?(?P<value>[\w'-]+(?: [\w'-]+)?),? (?:i (?:get (?:hives|a rash|itchy)|break out|swell|come out in|can't breathe|go into)|my (?:throat|lips?|tongue|face|mouth|eyes|skin)\b[^.?!]{0,20}?(?:swells?|itch\w*|closes?|tingles?|burns?))", "Is allergic to {value}"),
    Rule("allergies", r"(?:<ADJ>{0,1})?allergic to (?P<value>\w)", "Is allergic to {value}", "be", _TASTE_LIST),
    Rule("allergies", r"<START>(?:(?:severely|very|badly) )?allergic to (?P<value>\w)", "Is allergic to {value}", "", _TASTE_LIST),
    Rule("allergies", r"(?:as|being) (?:someone )?(?:who is |who's )?(?:(?:severely|very|badly) )?allergic to (?P<value>\w)", "Is allergic to {value}", "", _TASTE_LIST),
    Rule("allergies", r"(?:suffer from |live with )?(?:an?|my|this) (?:<ADJ>{0,2}?)(?:allergy|intolerance|sensitivity|allergic reaction) to (?P<value>\w)", "Is allergic to {value}", "have", _TASTE_LIST),
    Rule("allergies", r"(?:suffer from|live with|'ve developed|developed|deal with|have developed) (?:an? )?(?:<ADJ>{0,2}?)(?:allergy|intolerance|sensitivity) to (?P<value>\w)", "Is allergic to {value}", "do", _TASTE_LIST),
    Rule("allergies", r"an? (?:(?:severe|bad|mild|serious|strong|nasty|terrible|life-threatening|lifelong|known) )*(?P<value>[\w'-]+(?: [\w'-]+)?)[- ](?:allergy|intolerance)(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>|making)\b)", "Has {value} allergy", "have"),
    Rule("allergies", r"(?:suffer from|live with) an? (?:(?:severe|bad|mild|serious) )*(?P<value>[\w'-]+(?: [\w'-]+)?)[- ](?:allergy|intolerance)\b", "Has {value} allergy", "do"),
    Rule("allergies", r"<START>(?P<value>(?!no\b|any\b)[\w'-]+(?: [\w'-]+)?) (?:allergy|intolerance|allergies) (?:here|sufferer here)\b", "Has {value} allergy"),
    Rule("allergies", r"(?P<value>(?!no\b|any\b)[\w'-]+(?: [\w'-]+)?) (?:allergy|intolerance)\b[^.?!]{0,40}?\band i(?:'ve| have|)(?: got)? (?:it|one|that)\b", "Has {value} allergy"),
    Rule("allergies", r"my (?:(?:severe|bad|mild|terrible|stupid|annoying|damn) )?(?P<value>(?!food\b|seasonal\b|skin\b)[\w'-]+(?: [\w'-]+)?) (?:allergy|intolerance|allergies)\b", "Has {value} allergy"),
    Rule("allergies", r"(?P<value>[\w'-]+)[- ]intolerant\b", "Cannot tolerate {value}", "be"),
    Rule("allergies", r"intolerant (?:to|of) (?P<value>\w)", "Cannot tolerate {value}", "be", _TASTE_LIST),
    Rule("allergies", r"i <CANNOT> (?:tolerate|digest|eat|have|touch|handle|go near) (?:any )?(?P<value><ALLERGEN>)(?! (?:right|today|tonight|this|now))<END>", "Cannot have {value}", "", _TASTE_LIST),
    Rule("allergies", r"(?:my body|my stomach|my gut) (?:can't|cannot|doesn't) (?:tolerate|digest|handle) (?P<value><FOOD>)", "Cannot have {value}", "", _TASTE_LIST),
    Rule("allergies", r"(?:react|have a reaction) (?:badly |terribly |strongly |severely )?to (?P<value><ALLERGEN>|[\w-]+ stings?|penicillin|latex|pollen|nickel|aspirin|ibuprofen)", "Is allergic to {value}", "do", _TASTE_LIST),
    Rule("allergies", r"(?:get|break out in|come out in) (?:an? )?(?:hives|rash|itchy|a reaction) from (?P<value>\w)", "Is allergic to {value}", "do", _TASTE_LIST),
    Rule("allergies", r"(?:carry|have|need|keep) an (?:epi-?pen|auto-?injector) (?:for|because of|due to) (?P<value>\w)", "Is allergic to {value}", "do", _TASTE_LIST),
    Rule("allergies", r"(?:very |highly )?sensitive to (?P<value><ALLERGEN>|[\w-]+ stings?|penicillin|latex|pollen|nickel|aspirin)", "Is allergic to {value}", "be", _TASTE_LIST),
    Rule("allergies", r"(?P<value><ALLERGEN>|penicillin|latex|caffeine) (?:doesn't|does not|don't|do not|never) agrees? with me\b", "Cannot have {value}"),
    Rule("allergies", r"(?P<value><ALLERGEN>|penicillin|latex|caffeine) disagrees? with me\b", "Cannot have {value}"),
    Rule("allergies", r"(?P<value><ALLERGEN>|[\w-]+ stings?|penicillin|latex|pollen|nickel|aspirin|cat hair|dog hair|dust) (?:makes? me (?:ill|sick|swell|break out|itch|wheeze|sneeze|come out)|gives? me (?:hives|a rash)|brings? me out in|sends? me (?:in)?to (?:hospital|a&e|anaphyla))", "Is allergic to {value}"),
    Rule("diet", r"(?:(?:an?|fully|completely|entirely|raw|lifelong|committed|strict|devout|longtime|long-time|life-long|new|recent|proud|practising|practicing|happy|mostly|both|100%) )*(?P<value><DIET>(?:s?,? but (?:i )?(?:do |still |sometimes |occasionally )*eats? (?:fish|honey|eggs|seafood|chicken|cheese|dairy|oysters|meat)\b[^.,;!?]{0,30})?)s?\b(?!['\w-]| (?:for (?:january|lent|veganuary|ramadan)|chef|cook|baker|owner|curious|at heart|for (?:the|a|one) (?:day|week|month)|this|today|tonight|on mondays|diet|athlete|blogger|food blogger))", "Is {value}", "be"),
    Rule("diet", r"(?:we're|we are|we've been|my (?:wife|husband|partner|family) and i are|we both are|our (?:family|household|home|kitchen) is) (?:all |both |strictly |fully |mostly )*(?P<value><DIET>)s?\b", "Is {value}"),
    Rule("diet", r"(?:follow|eat|keep to|stick to|do|maintain|stick with) an? (?:(?:strict|mostly|very|doctor's) )*(?P<value>(?!(?:balanced|healthy|good|varied|normal|big|small|lot)\b)[\w-]+(?: (?!diet)[\w-]+)?) (?:diet|way of eating)\b", "Follows a {value} diet", "do"),
    Rule("diet", r"eating (?:(?:strictly|only|mostly) )?(?P<value><DIET>)\b", "Is {value}", "be"),
    Rule("diet", r"i only eat (?P<value><FOOD>)<END>", "Only eats {value}", "", _TASTE_LIST),
    Rule("diet", r"no (?P<value><FOOD>) for me\b(?! (?:today|tonight|right now|this))", "Does not eat {value}"),
    Rule("diet", r"on an? (?:(?:strict|very|permanent|medical|lifelong) )*(?P<value>(?!(?:strict|new|crash|constant|balanced|healthy|good)\b)[\w-]+(?: (?!diet)[\w-]+)?) diet\b", "Follows a {value} diet", "be"),
    Rule("diet", r"(?:(?:only|just|exclusively|strictly) )?(?:keep|stay|follow|observe|do)(?: (?:strictly|only|mostly|exclusively|purely|fully|strict|entirely|a))* (?P<value>kosher|halal|sabbath)\b(?! (?:diet|restaurants))", "Keeps {value}", "do"),
    Rule("diet", r"(?:(?:only|just|exclusively|strictly) )?(?:keep|eat|stay|cook|drink|follow|observe|do)(?: (?:strictly|only|mostly|exclusively|purely|fully|strict|entirely|a))* (?P<value><DIET>)\b(?! (?:diet|restaurants))", "Eats {value}", "do"),
    Rule("diet", r"i <CANNOT> eat (?:any )?(?P<value><FOOD>)(?! (?:right|today|tonight|this|now))<END>", "Does not eat {value}", "", _TASTE_LIST),
    Rule("diet", r"(?:i|we) <NOT> (?:eat|touch|consume|cook|do|have) (?:any )?(?P<value>(?:(?:any|all|red|raw|fried) )?<FOOD>)(?! (?:right|today|tonight|this|now))<END>", "Does not eat {value}", "", _TASTE_LIST),
    Rule("diet", r"(?:i|we) <NOT> eat (?!(?:much|well|breakfast|lunch|dinner|out|there|it|that|this|these|those|a|enough|anything|everything|at|in|before|after|when|if|like|with|too|so|very|more|as|often|here|properly|late|until|any more|anymore)\b)(?P<value>[a-z]+)", "Does not eat {value}", "", _TASTE_LIST),
    Rule("diet", r"(?:i|we) <NOT> drink (?:any )?(?P<value>alcohol|coffee|caffeine|milk|cow's milk|dairy|beer|wine|spirits|soda|fizzy drinks|tea)\b(?! (?:after|before|in the|at night|right|today))", "Does not drink {value}", "", _TASTE_LIST),
    Rule("diet", r"(?:avoid|abstain from|stay away from|steer clear of|stay off|skip|cut out) (?:all |any )?(?P<value><FOOD>)(?! (?:today|tonight|this|for (?:a|the|one)))<END>", "Avoids {value}", "do", _TASTE_LIST),
    Rule("diet", r"(?:i|we)(?:'ve|ve| have)?(?: (?:just|recently|finally))* (?:given up|gave up|cut out|sworn off|quit eating|stopped eating|stopped drinking) (?P<value><FOOD>)(?! for (?:lent|a|the|january))(?:(?= (?:years|a (?:year|while|long time)|\w+ (?:years|months)) ago)|<END>)", "Does not have {value}", "", _TASTE_LIST),
    Rule("diet", r"(?:i|we)(?:'ve|ve| have)?(?: (?:just|recently|finally))* (?:went|gone|turned|become|became|been eating|switched to|been keeping|been)(?: (?:fully|completely|strictly|an?))* (?P<value><DIET>)\b(?! for (?:a|the|one))", "Is {value}"),
    Rule("diet", r"<START>(?P<value><DIET>)s? here\b", "Is {value}"),
    Rule("diet", r"(?:as|being) (?:an? )?(?:(?:strict|lifelong|committed|new) )*(?P<value><DIET>)(?=\s*,|\s+(?:i|myself|who)\b)", "Is {value}"),
    Rule("diet", r"my diet(?:'s| is) (?:strictly |mostly |fully )?(?P<value><DIET>)\b", "Is {value}"),
)

ABOUT_TASTE: Final = (
    Rule("likes", r"(?:i|we)(?:'d| would)(?: (?:much|always|generally|usually))? rather (?:have |drink |eat |use |take |get |go for )?(?!(?:be|you|not|it|they|he|she|we|i)\b)(?P<value>[^.,;:!?()\n—–]{2,40}?)(?= than\b)", "Prefers {value}"),
    Rule("likes", r"(?:i|we)(?:'d| would)(?: (?:much|always|generally|usually))? prefer (?P<value>(?:metric|imperial|celsius|fahrenheit|british|american|short|brief|long|detailed|formal|informal|plain|simple)\b(?: (?:units?|answers?|repl(?:y|ies)|english|spelling|language|tone|explanations?))?)(?=\s*[.!]?\s*$)", "Prefers {value}"),
    Rule("likes", r"(?P<value>(?:play|practise|practice) (?:the )?(?:(?:\w+ )?(?:guitar|bass|piano|violin|viola|cello|harp|flute|oboe|clarinet|bassoon|saxophone|sax|trumpet|trombone|tuba|horn|drums|banjo|ukulele|accordion|keyboards?|organ)|football|soccer|rugby|cricket|tennis|badminton|squash|hockey|basketball|volleyball|golf|chess|go|bridge|poker|darts|snooker|table tennis|video games|dungeons and dragons)|sing in (?:an? |the )(?:\w+ )?choir|do (?:yoga|pilates|karate|judo|ballet|pottery|parkour))<END>", "Likes to {value}", "do"),
    Rule("dislikes", r"<START>(?:really |so )?not (?:an? |much of an? )?(?:big |huge )?(?:fan of|into|keen on|fond of) (?P<value>\w)", "Dislikes {value}", "", _TASTE_LIST),
    Rule("likes", r"<START>(?:an? )?(?:big |huge |massive |lifelong )+fan of (?P<value>\w)", "Likes {value}", "", _TASTE_LIST),
    Rule("likes", r"(?:collect|breed|restore) (?!(?:data|dust|the|my|your|it|them)\b)(?P<value>\w)", "Collects {value}", "do", _TASTE_LIST),
    Rule("likes", r"nothing beats (?P<value>\w)", "Likes {value}", "", _TASTE_LIST),
    Rule("likes", r"(?:i )?can't get enough of (?P<value>\w)", "Likes {value}", "", _TASTE_LIST),
    Rule("likes", r"(?P<value>(?!(?:it|that|this|which|what|he|she|who|there)\b)[\w'-]+(?: [\w'-]+){0,2}?) (?:is|are) (?:totally |really |more |kind of )?my (?:thing|jam|cup of tea|happy place|passion|obsession)\b", "Likes {value}"),
    Rule("likes", r"(?:i've |i have |have )?been (?P<value>(?:playing|practising|practicing|doing|knitting|collecting|climbing|running|rowing|sailing|singing|dancing|painting|brewing|baking|gardening|surfing|cycling|swimming|fencing)(?: (?:the )?[\w'-]+(?: [\w'-]+)?)??)(?= (?:in an?|since|for (?:years|ages|\w+ years|decades)|all my life|with an?)\b)", "Likes {value}"),
    Rule("dislikes", rf"(?:not|no|never been|not really|never) (?:(?:really|much|exactly|particularly|very|too|terribly|that|at all|big) )*{FAN} (?P<value>\w|<COVERED>)", "Dislikes {value}", "be", _TASTE_LIST),
    Rule("dislikes", r"(?:not much of an? |not an? |no )(?:big |huge |great |massive )?(?P<value>[\w-]+) (?:fan|lover|person)\b", "Dislikes {value}", "be"),
    Rule("dislikes", r"(?:no fan of|(?:sick|tired) and tired of|put off by|repulsed by|averse to|disgusted by|scared of|terrified of) (?P<value>\w)", "Dislikes {value}", "be", _TASTE_LIST),
    Rule("dislikes", rf"{HATE} (?P<value>\w|<COVERED>)", "Dislikes {value}", "do", _TASTE_LIST),
    Rule("dislikes", r"(?:i|we) (?:(?:really|just|honestly|personally|truly) )*(?:don't|do not|dont|never|didn't ever) (?:(?:really|much|particularly|even|actually|at all|especially) )*(?:like|liked|enjoy|enjoyed|love|care for|fancy|appreciate|cared for) (?P<value>\w)", "Dislikes {value}", "", _TASTE_LIST),
    Rule("dislikes", r"have (?:a strong dislike|a hatred|a (?:deep |real )?aversion|no love|a loathing|an aversion|a dislike) (?:of|for|to) (?P<value>\w)", "Dislikes {value}", "do", _TASTE_LIST),
    Rule("dislikes", r"have no (?:time|patience|interest|love|use) (?:for|in) (?P<value>\w)", "Dislikes {value}", "do", _TASTE_LIST),
    Rule("dislikes", r"not (?:so |very |really |too |that )?(?:big|sold|hot|wild|mad|crazy|nuts) (?:on|about) (?P<value>\w)", "Dislikes {value}", "be", _TASTE_LIST),
    Rule("dislikes", r"(?P<value>(?!it\b|that\b|this\b|he\b|she\b)[\w'-]+(?: [\w'-]+){0,2}?) (?:tastes? like|turns? my stomach|grosses me out|gets? on my nerves|drives? me (?:mad|crazy|up the wall|nuts))\b", "Dislikes {value}"),
    Rule("dislikes", r"(?P<value>(?!it\b|that\b|this\b|there\b|he\b|she\b|they\b|what\b)[\w'-]+(?: [\w'-]+){0,3}?) (?:is|are)(?: really| just)?(?:n't| not) (?:my (?:thing|cup of tea|favou?rite|jam)|for me)\b", "Dislikes {value}"),
    Rule("dislikes", r"my least favou?rite [\w -]{2,30}? (?:is|are) (?P<value>\w)", "Dislikes {value}", "", _TASTE_LIST),
    Rule("likes", rf"{FAN} (?P<value>\w|<COVERED>)", "Likes {value}", "be", _TASTE_LIST),
    Rule("likes", r"an? (?:big |huge |massive |keen |avid |real |total |passionate |die-hard )?(?!(?:big|huge|such|night|morning|people)\b)(?P<value>[\w-]+(?: [\w-]+)?) (?:fan|lover|enthusiast|buff|addict|aficionado|nerd|geek)\b", "Likes {value}", "be"),
    Rule("likes", r"(?:prefer|favou?r) (?!(?:to be|if|when|that|not|it|this)\b)(?P<value>[^.,;:!?()\n—–]{2,60}?)(?= (?:to|over|rather than|instead of|than|any day)\b)", "Prefers {value}", "do"),
    Rule("likes", r"(?:prefer|favou?r) (?!(?:to be|if|when|that|not|it|this)\b)(?P<value>\w|<COVERED>)", "Prefers {value}", "do", _TASTE_LIST),
    Rule("likes", rf"{LOVE} (?P<value>\w|<COVERED>)", "Likes {value}", "do", _TASTE_LIST),
    Rule("likes", r"(?:i|we)(?:'ve| have) always (?:loved|liked|enjoyed|adored) (?P<value>\w)", "Likes {value}", "", _TASTE_LIST),
    Rule("likes", r"nothing makes me happier than (?P<value>\w)", "Likes {value}", "", _TASTE_LIST),
    Rule("likes", r"(?:i|we)(?:'ve| have) (?:got )?(?:an? )?(?:(?:real|huge|big|massive|total) )?(?:soft spot|weakness|passion|thing|love) for (?P<value>\w)", "Likes {value}", "", _TASTE_LIST),
    Rule("likes", r"(?:i )?(?:can't|cannot|cant) (?:get enough of|live without|resist) (?P<value>\w)", "Likes {value}", "do", _TASTE_LIST),
    Rule("likes", r"(?:my|our) (?:all-time |absolute |one )?favou?rite(?P<what> (?!part\b|thing\b|bit\b)[\w -]{2,30}?)?(?: of all(?: time)?| ever)? (?:is|are|has to be|would be|has always been|must be) (?:definitely |probably |still |always )?(?P<value>\w|<COVERED>)", "Favourite {what}: {value}", "", _PHRASE, key="favourite {what}"),
    Rule("likes", r"(?P<value>(?!it\b|that\b|this\b|what\b|which\b|he\b|she\b)[\w'-]+(?: [\w'-]+){0,3}?) (?:is|are) my (?:all-time |absolute )?favou?rites?(?P<what> (?!part\b|thing\b|bit\b)[\w -]{2,30}?)?<END>", "Favourite {what}: {value}", key="favourite {what}"),
    Rule("likes", r"my (?:biggest |main |greatest )?(?:hobby|passion|hobbies|passions|interests?|pastime|guilty pleasure)(?:'s| is| are| include) (?P<value>\w)", "Likes {value}", "", _TASTE_LIST),
)
