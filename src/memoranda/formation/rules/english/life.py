"""English rules for work, languages, family, pets and possessions."""

from __future__ import annotations

from typing import Final

from memoranda.formation.rules.grammar import Reach, Rule

_LIST = Reach.LIST

# One rule a line, so that they read as a table.
# fmt: off

ABOUT_WORK: Final = (
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
            rf"(?P<value>{verb} (?P<rest>(?:an?|my own|our own|our|my|the|two|three) <ADJ>{{0,4}}?<BUSINESS>))(?=\s*(?:[,.;:!?()—–]|-\s|$)|\s+(?:<STOPS>)\b)",
            f"{verb.capitalize()}s {{rest}}",
            "do",
        )
        for verb in ("run", "manage", "own", "co-own", "operate", "co-run")
    ),
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
    Rule("language", r"we speak (?P<value><TONGUE>) at home", "Speaks {value}"),
)

AGED = r"(?:\d{1,2}|<NUMBER>)(?:[- ](?:years?|months?)[- ]old)?"

ABOUT_OTHERS: Final = (
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
    Rule("pet", r"(?P<phrase>(?P<value><COUNT> (?!hot\b)<ADJ>{0,3}?<PET>(?: (?:called|named) <NAME>(?:(?:, <NAME>){0,3},? and <NAME>)?)?))(?! in (?:my|the)\b)(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Has {phrase}", "have"),
    Rule("pet", r"(?:own|keep|am owned by|share (?:my|our) (?:home|flat|life|house) with|look after|adopted|rescued|just adopted|have adopted|have just adopted|got) (?P<phrase>(?P<value>(?:<COUNT> )?<ADJ>{0,3}?<PET>(?: (?:called|named) <NAME>(?: and <NAME>)?)?))(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Has {phrase}", "do"),
    Rule("pet", r"(?:i|we)(?:'ve|ve| have)(?: (?:just|recently))* (?:had|owned|kept|adopted|rescued|got|gotten) (?P<phrase>(?P<value><COUNT> <ADJ>{0,3}?<PET>(?: (?:called|named) <NAME>)?))(?= (?:for|since|from|and|called|named|who|that|last|this)\b|\s*[,.;!]|$)", "Has {phrase}"),
    Rule("pet", r"(?:an?|the) (?:proud |happy |new |first-time )*(?:owner|parent|mum|mom|dad) (?:of|to) (?P<phrase>(?P<value><COUNT> <ADJ>{0,3}?<PET>(?: (?:called|named) <NAME>)?))<END>", "Has {phrase}", "be"),
)

ABOUT_THINGS: Final = (
    Rule("possession", r"(?P<phrase>(?P<value><COUNT> <ADJ>{0,4}?<THING>(?: from (?:the )?[\w']+(?: [\w']+)?)?))(?! in mind)(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Has {phrase}", "have"),
    Rule("possession", r"(?P<phrase>(?P<value>(?:an?|two|three|four|several|some|my own|our own|one) (?!(?:point|stake|mistakes?)\b)<NP>(?: from the <NP>)?))", "Owns {phrase}", "own"),
    Rule("possession", r"(?:drive|ride|fly|sail) (?P<phrase>(?:an?|my own|two) (?!hard bargain|point|wedge|bus for|taxi for)(?P<value><ADJ>{0,4}?(?:<THING>|<CAP>(?: [\w-]+)?)))(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Drives {phrase}", "do"),
    Rule("possession", r"(?:i|we)(?:'ve|ve| have)?(?: (?:just|recently|finally|also))* (?:bought|inherited|acquired|picked up|purchased|built|was given|were given|been given|got myself|treated myself to|restored)(?: myself| ourselves)? (?P<phrase>(?P<value>(?:an?|two|three|some|my own) <ADJ>{0,4}?<THING>(?: from (?:the )?[\w']+)?))(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Has {phrase}", "got"),
    Rule("possession", r"(?:my|our) <ADJ>{0,2}?<THING>(?:'s| is) (?P<phrase>(?:an?) (?P<value><ADJ>{0,3}?(?:<THING>|(?:<CAP>(?: [\w-]+){0,2}))))(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>)\b)", "Has {phrase}"),
    Rule("possession", r"(?:an?|the) (?:proud |happy |new )*owner of (?P<phrase>(?:an?|two|three|some) (?P<value><NP>))", "Owns {phrase}", "be"),
)
