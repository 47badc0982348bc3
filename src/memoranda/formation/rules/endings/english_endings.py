"""English: what takes earlier statements back, and what makes later messages no statements."""

from __future__ import annotations

from typing import Final

from memoranda.formation.rules import english_words
from memoranda.formation.rules.endings.topic_groups import (
    ALLERGY,
    ANY,
    BEING,
    BODY,
    DIET,
    DISLIKED,
    FAMILY,
    HOME,
    LANGUAGE,
    NOTE,
    ORDER,
    OWNED,
    PASSING,
    PET,
    TASTE,
    THING,
    WORK,
)
from memoranda.formation.rules.grammar import Ending, Frames, TakingBack, pattern

_NOT = r"(?:don't|do not|dont|doesn't|does not|didn't|did not|never did|can't|cannot|cant|no longer|not|isn't|aren't|am not|wasn't|weren't|ain't)"
_EVER = r"(?:any ?more|any longer|no more|after all|these days)(?! (?:this|today|tonight|right now|until|for now))"
_AGAIN = r"(?:again|now and then|these days|now|once more|on occasion|occasionally|sometimes)"
_PARTNER = r"\b(?:wife|husband|spouse|partner|fianc[eé]e?|boyfriend|girlfriend|married|engaged)\b"
_MEAT = r"(?:meat|chicken|beef|steaks?|bacon|pork|lamb|burgers?|sausages?|ham|turkey)"
_TONGUE = english_words.LANGUAGE_NAME

_ENDINGS: Final = (
    # Where somebody lives, what they do.
    Ending(HOME, pattern(rf"\b(?:{_NOT} (?:actually )?(?:live|living|based|reside|staying)\b|{_NOT} in \w+(?: \w+)? {_EVER}|(?:moved|moving) (?:away|out)\b|(?:have |'ve |just |i |we )left\b(?! over| side| hand| to| my| a| an| it| the \w+ (?:at|in)))")),
    Ending(WORK, pattern(r"\b(?:(?:got|been|was|am|were|being|get) (?:laid off|fired|sacked|let go|made redundant|dismissed|canned)|(?:quit|lost|left|resigned from|gave up) (?:my|the) (?:job|position|post)\b|handed in my (?:notice|resignation)|i(?:'ve| have)?(?: just| finally)? (?:resigned|retired)\b|"
           r"(?:my|the) (?:very )?last day|(?:am|i'm) (?:out of (?:a job|work)|unemployed|between jobs)|(?:closed|sold|shut) (?:down )?(?:my|our|the) (?:\w+ )?(?:business|shop|company|store|practice|bakery|café|restaurant|studio))"), named=False),
    Ending(WORK, pattern(rf"\b(?:(?:no longer|{_NOT}) (?:\w+ ){{0,2}}?work(?:ing)?\b|(?:just |finally |have |'ve |i )(?:quit|left|resigned from|retired from|been fired from)\b(?! (?:my|a|an|some|his|her|it|them|the \w+ (?:at|in|on))\b)|{_NOT} (?:\w+ ){{1,4}}{_EVER}|no longer\b|stopped (?:working|being|teaching|driving)|used to (?:work|be))")),
    # What somebody likes or eats.
    Ending(TASTE, pattern(rf"\b(?:{_NOT} (?:\w+ ){{0,3}}?(?:like|love|enjoy|care|into|fan|keen|fond)\b.*?\b{_EVER}|no longer (?:\w+ )?(?:like|love|enjoy|into|a fan|care)|(?:kinda|kind of|so|totally|sort of|completely|pretty much|well) over\b|"
           rf"i(?:'m| am) (?:\w+ )?(?:over(?! the moon| here| there|joyed)|done with|through with|sick of|tired of|bored (?:of|with)|off)\b|(?:is|are|'s) (?:\w+ )?(?:out|over|history|off the (?:list|table|menu))\b(?! of)|(?:isn't|is not|aren't|are not|'s not|no longer) (?:really )?(?:my thing|for me)\b|gone off|went off|grew out of|grown out of|outgr(?:ew|own)|"
           rf"(?:gave|given|giving) up\b|(?:quit|stopped|dropped|ditched)\b|lost (?:my taste|interest|all interest)|(?:can't|cannot) stand\b.*?\b(?:now|{_EVER})|{_NOT} (?:\w+ ){{1,4}}{_EVER})")),
    Ending(DISLIKED, pattern(rf"\b(?:{_NOT} (?:\w+ ){{0,2}}?(?:hate|dislike|mind|detest|loathe)\b|(?:come|coming|came|grown|grew) (?:around|round|to (?:like|love|enjoy))|(?:now|actually) (?:i )?(?:quite |really )?(?:like|love|enjoy)|changed my mind (?:about|on))\b")),
    Ending(DIET, pattern(rf"\b(?:{_NOT} (?:\w+ ){{0,2}}(?:\w+ )?{_EVER}|no longer\b|(?:stopped|quit|gave up|given up|done (?:with )?)(?: being| eating| going)?\b|back (?:to|on)\b|{_NOT} (?:a )?(?:vegan|vegetarian|pescatarian|keto|kosher|halal)|(?:is|'s|are) (?:over|history|back on the (?:table|menu)|out)\b)")),
    Ending(DIET, pattern(rf"\b(?:eat|eating|ate|having|have|had|cook|started|back (?:on|to)) (?:\w+ ){{0,2}}?(?:{_MEAT}|fish|seafood)\b.*?\b{_AGAIN}|back (?:on|to)(?: eating)? {_MEAT}|meat is back|started (?:eating|having) (?:\w+ ){{0,2}}?{_MEAT}"), values=pattern(rf"vegan|vegetarian|veggie|pescatarian|plant|\bmeat|{_MEAT}"), named=False),
    Ending(DIET, pattern(rf"\b(?:eat|eating|having|have|back (?:on|to)|started) (?:\w+ ){{0,2}}?(?:dairy|cheese|eggs?|milk|butter|yogh?urt)\b.*?\b{_AGAIN}|back (?:on|to)(?: eating)? (?:dairy|cheese|eggs)|(?:dairy|cheese) is back"), values=pattern(r"vegan|plant|dairy|cheese|egg|milk|lactose"), named=False),
    Ending(DIET, pattern(rf"\b(?:eat|eating|having|have|back (?:on|to)|started) (?:\w+ ){{0,2}}?(?:gluten|bread|wheat|pasta|carbs?)\b.*?\b{_AGAIN}|back (?:on|to)(?: eating)? (?:gluten|bread|carbs|wheat)"), values=pattern(r"gluten|bread|wheat|carb|keto|paleo|coeliac|celiac"), named=False),
    Ending(DIET, pattern(rf"\b(?:drink(?:ing)?|having|have|started|glass of|back (?:on|to)) (?:\w+ ){{0,4}}?(?:alcohol|wine|beer|whisky|cocktails?|pints?)\b.*?\b{_AGAIN}|\bdrinking again"), values=pattern(r"alcohol|teetotal|wine|beer|drink|sober"), named=False),
    # Allergies and health need words of their own.
    Ending(ALLERGY, pattern(rf"\b(?:{_NOT} (?:\w+ ){{0,3}}?(?:allergic|intolerant|allergy|sensitive)\b|no longer (?:\w+ )?(?:allergic|intolerant)|outgr(?:ew|own)|grown out of|false (?:positive|alarm)|misdiagnos\w+|(?:isn't|is not|wasn't|aren't|weren't|not) (?:actually )?the (?:problem|culprit|cause|issue)|"
           r"(?:is|are|was|were|turned out) (?:totally |perfectly |actually )?(?:fine|ok|okay|no problem|safe) (?:for me|after all|now|again)|back on the (?:table|menu)|can (?:now )?(?:eat|have|tolerate|drink) [^,.;]{0,40}?(?:again|after all|now)|allergy (?:is|has) (?:gone|over|cleared)|test (?:was|came back) negative|tested negative)")),
    Ending(BODY, pattern(rf"\b(?:outgr(?:ew|own)|misdiagnos\w+|false (?:positive|alarm)|(?:am|i'm) (?:cured|in remission|recovered)|(?:{_NOT}) (?:\w+ ){{0,4}}?after all|no longer (?:have|suffer|diabetic|pregnant|take|need|use|on)|{_NOT} (?:have|take|need|use) (?:\w+ ){{1,4}}{_EVER}|{_NOT} pregnant|(?:asthma|illness|cancer|\w+) (?:is|has) (?:gone|cleared up))\b")),
    Ending(frozenset({"health"}), pattern(r"\b(?:gave birth|baby (?:is here|was born|arrived|came)|had the baby|delivered|miscarr\w+)\b"), values=pattern(r"pregnan|expecting|trimester|weeks"), named=False),
    # Animals, things, people.
    Ending(PET, pattern(r"\b(?:died|passed(?: away| on)?\b|is dead|was put (?:down|to sleep)|put (?:\w+ )?(?:down|to sleep)|had to (?:say goodbye|let)|crossed the rainbow|is no longer with us|is gone|lost|rest in peace|rip|ran away|rehomed|went to (?:live|a new home)|found (?:\w+ ){1,3}a new home|no longer have)\b")),
    Ending(OWNED, pattern(rf"\b(?:sold|gave away|given away|got rid of|scrapped|traded(?: in)?|totall?ed|wrote off|written off|donated|rehomed|gave (?:\w+ ){{1,3}}(?:away|back|up)|(?:was|got|were|been) (?:stolen|wrecked|scrapped|totalled|totaled)|died on me|broke down for good|{_NOT} (?:have|own|drive|ride) [^,.;]{{0,40}}|no longer (?:have|own|drive)|went to live)\b")),
    Ending(THING, pattern(r"\b(?:died|is dead|gave up the ghost|is gone|kicked the bucket|packed in|bit the dust)\b")),
    Ending(FAMILY, pattern(r"\b(?:broke up|broken up|break-?up|split(?: up)?\b(?! the)|separated|(?:got|getting|are|am|i'm|we're|now|newly|recently) divorced|(?:the|our|my) divorce|dumped|left me|called off (?:the|our) (?:engagement|wedding)|(?:engagement|wedding) is (?:off|over)|no longer (?:together|married|engaged|with)|not together any ?more|(?:is|are|'re|'s) over between|"
           r"(?:is|are) (?:now )?(?:my )?ex\b|my ex-(?:wife|husband)|single again|widowed|we're (?:over|done|finished|through))\b"), values=pattern(_PARTNER), named=False, of_others=True),
    Ending(LANGUAGE, pattern(r"\b(?:(?:take|cross|leave|drop|strike|remove) (?:\w+ ){1,4}?(?:off|out)\b|(?:can't|cannot|don't|do not|no longer|never) (?:\w+ ){0,2}?(?:speak|learned|know|understand)\b|forgotten (?:all )?(?:my|all)|remove\b|scratch\b)")),
    # Requests and notes.
    Ending(frozenset({"nickname"}), pattern(r"\b(?:stop|quit|don't|do not|never|no longer|nobody|no one) (?:\w+ ){0,2}?call(?:s|ing)? me\b"), asked=True),
    Ending(ORDER, pattern(r"\b(?:drop (?:it|that|the)|(?:forget|ignore|scrap|scratch|lift|cancel|disregard|never ?mind) (?:about )?(?:that|it|the|my|what)|(?:you (?:can|may|don't (?:have|need) to)|(?:is|are|it's) (?:ok|okay|fine|allowed|welcome)|feel free|no need (?:to|for)|stop|no longer (?:need|have)|(?:is|are) fine again|go back to|back to)\b|undo)"), asked=True),
    Ending(ORDER, pattern(rf"\b(?:(?:back to|in|switch to|use|speak|continue in|reply in|answer in|go back to) (?:{_TONGUE})\b|normal language)"), values=pattern(rf"\b(?:{_TONGUE})\b"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:long(?:er)?|detailed|full|in-depth|elaborate|more detail|as long as)\b.*?\b(?:again|fine|ok|okay|now|please|answers?|repl\w+)"), values=pattern(r"\b(?:short|brief|concise|words|sentences?|lines?|paragraphs?|to the point|succinct)\b"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:short(?:er)?|brief|concise)\b.*?\b(?:again|from now|now|please|answers?|repl\w+)"), values=pattern(r"\b(?:long|detailed|in-depth|elaborate|full)\b"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:use|back to|in|switch to) (?:metric|kilomet\w+|celsius|centimet\w+|met(?:re|er)s)\b"), values=pattern(r"\b(?:imperial|miles|fahrenheit|inches|pounds)\b"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:use|back to|in|switch to) (?:imperial|miles|fahrenheit|inches|pounds)\b"), values=pattern(r"\b(?:metric|kilomet\w+|celsius|centimet\w+)\b"), named=False, asked=True),
    Ending(ORDER, pattern(r"\bemojis? (?:are|is) (?:fine|ok|okay|welcome|allowed|back)|(?:you can|can|may|feel free to) use emojis?|bring (?:back )?(?:the )?emojis?"), values=pattern(r"emoji"), named=False, asked=True),
    Ending(NOTE, pattern(r"\b(?:cancell?ed|called off|postponed|is over|was yesterday|has passed|(?:can|may|please) forget|forget (?:about )?(?:it|that|the|my)|no longer|never ?mind|is off|done|fell through|not happening|moved to|changed to|is now)\b"), of_others=True, asked=True),
    # What names its statement.
    Ending(ANY - BODY, pattern(r"(?<!don't )(?<!not )(?<!never )(?<!dont )\b(?:forget|delete|erase|scratch|strike|disregard|ignore) (?:about )?(?:that|what i said about|my|the|the fact that)\b"), asked=True),
    Ending(BODY, pattern(r"(?<!don't )(?<!not )(?<!never )(?<!dont )\b(?:forget|delete|erase|disregard|ignore) (?:about )?(?:that i (?:am|have|was)|that i'm|my)\b[^,.;]{0,60}\b(?:allerg\w+|intoleran\w+|condition|disease|diabet\w+|asthma|pregnan\w+|\w+ic)\b"), asked=True),
    Ending(BEING, pattern(r"\b(?:i'm|i am|we're|we are) (?:actually |really |in fact )?not (?:an? |the |from |called |in )?(?!sure|going|saying|here|really|even|only|just|the only|that\b|so\b|very|as |too )\w+")),
    Ending(BEING | OWNED | LANGUAGE, pattern(r"\b(?:was|were) (?:(?:just|only) )?(?:a joke|joking|kidding|lying|wrong|a mistake|mistaken|a typo|nonsense)\b|\b(?:just|only) (?:joking|kidding) (?:earlier|before)|i lied\b|made that up")),
    Ending(OWNED | LANGUAGE, pattern(r"\bi (?:don't|do not|never) (?:actually |really )?(?:have|own|drive|speak|had|owned)\b")),
    Ending(PASSING, pattern(rf"\b(?:that's|that is|it's|it is) no longer (?:true|the case)|\b(?:i'm|i am|we're) (?:done|through|finished) with\b|\bno longer\b|\b{_EVER}(?! questions)\b")),
)  # fmt: skip

TAKING_BACK: Final = TakingBack(
    endings=_ENDINGS,
    others=pattern(
        rf"(?:(?:and|but|so|because|now|then|well|also|unfortunately|sadly|apparently|yesterday|today) )*(?:(?:my|our) (?:\w+ )?(?:{english_words.KIN}|friends?|boss|roommate|flatmate|neighbou?rs?|colleagues?|coworkers?|mates?|landlord|teacher|doctor|team|client)\b(?! and i\b)|he|she|they|you(?! can| may| don't)|his|her|their|someone|everyone|people)\b"
    ),
    instead=(
        pattern(r"\bnot (?:in |from |called |at )?(?P<old>[\w'-]+(?: [\w'-]+)?),? (?:but|it's|it is|rather|i'm|my name is|i said)(?: in| from| rather| called)? (?P<new>(?-i:[A-Z\d])[\w'-]+(?: (?-i:[A-Z])[\w'-]+){0,2})"),
        pattern(r"\b(?:it's|it is|actually|i'm|is|meant|in|from|called|was)(?: actually| from| in)? (?P<new>(?-i:[A-Z\d])[\w'-]+(?: (?-i:[A-Z])[\w'-]+){0,2}),? not (?:in |from )?(?P<old>(?-i:[A-Z\d])[\w'-]+)"),
        pattern(r"(?P<new>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?),? not (?P<old>(?-i:[A-Z])[\w'-]+)"),
        pattern(r"\bisn't (?P<old>[\w'-]+),? (?:it's|it is|but) (?P<new>(?-i:[A-Z\d])[\w'-]+)"),
    ),
    small=frozenset(
        "a an the my our your his her their i me we it its of to in on at for from with by and or but is are was be been am not no s t so as this that these those "
        "years old new one two three four always never please all any every keep use answer reply name called who has have had do does don't can can't head one's more "
        "use your give me you up out over back works lives speaks likes".split()
    ),
)  # fmt: skip

ENGLISH_FRAMES: Final = Frames(
    play=pattern(
        r"\brole-?\s?play|\blet'?s (?:play|pretend|act|do a (?:scene|role))\b|\byou(?:'re| are|'ll be| will be| be| play) (?:an?|the|my) (?!(?:best|genius|legend|star|life|lifesaver|great|very|real|good|bit|machine|robot|bot|computer|ai|language|wonder|treasure|gem|hero|expert|helpful|assistant)\b)[\w' -]{2,40}?"
        r"(?:(?:,| and|;|\.|\n) ?(?:and )?i(?:'m| am|'ll be| will be| play)\b|[.!]?\s*$)|\bi(?:'m| am|'ll be|'ll play) (?:an?|the|your|captain|detective|sir|lady|king|queen|count\w*) [^.?!]{2,60}?(?:,| and|[.;]) ?(?:and )?you(?:'re| are|'ll be| be) (?:an?|the|my)\b|\bi'?ll (?:be|play) (?:the|a|your) [\w ]{2,30}(?:and|,) you\b|\bstay in character\b|\byou play (?:the|a|my)\b"
    ),
    over=pattern(
        r"\b(?:end of (?:the )?(?:game|role-?\s?play|scene|act)|game over|stop (?:the )?(?:game|role-?\s?play\w*|pretending|acting)|out of character|ooc\b|no more (?:role-?\s?play|pretending)|(?:ok(?:ay)? )?(?:back to|in) (?:reality|real life|myself)|the real me|real me (?:is|here)|scene over|enough (?:role-?\s?play|pretending|playing)|done (?:playing|pretending|with the (?:game|role-?\s?play)))\b[,.:!]?"
    ),
    announced=pattern(
        r"\b(?:(?:i'?ll|i will|i'm going to|let me|going to|about to|gonna) (?:now )?(?:paste|send|share|copy|post|forward|quote) (?:you )?(?:in )?(?:an?|the|my|his|her|their|some(?:one)?|what)\b|here (?:comes|is what|it comes)|(?:the )?(?:text|letter|email|mail|message) (?:follows|is coming|is next|comes next|in (?:the|my) next)|"
        r"(?:write|draft|make|help me (?:write|with|draft))(?: me)? (?:an? |the |some )?(?:\w+ )?(?:bio|biography|profile|introduction|intro|cv|about page|resume|obituary|speech)\b[^.?!]{0,40}\b(?:for|of|about) (?:an?|the|my|our|his|her|someone|somebody) (?!(?:own|dating|self|website|site|blog|page)\b)\w+[^?!]{0,60}$)"
    ),
)  # fmt: skip
