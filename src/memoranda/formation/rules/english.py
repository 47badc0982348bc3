"""English: all rules, and the patterns of sentences that state nothing."""

from __future__ import annotations

import re
from typing import Final

from memoranda.formation.rules import english_words
from memoranda.formation.rules.endings.english_endings import ENGLISH_FRAMES, TAKING_BACK
from memoranda.formation.rules.english_rules import (
    ABOUT_FOOD,
    ABOUT_OTHERS,
    ABOUT_PEOPLE,
    ABOUT_PLACES,
    ABOUT_REQUESTS,
    ABOUT_TASTE,
    ABOUT_THINGS,
    ABOUT_WORK,
    ILL,
)
from memoranda.formation.rules.english_tokens import OFTEN, ORDER, SMALL_TOKENS, SUBJECTS, TOKENS
from memoranda.formation.rules.grammar import Language

ENGLISH: Final = Language(
    taking_back=TAKING_BACK,
    frames=ENGLISH_FRAMES,
    slip=re.compile(
        r"(?:(?:,| -| —| –)? (?:no,? wait|wait,? no|i mean|scratch that|sorry|correction|or rather|er,? no|make that)[,:—–-]*){1,2}(?: no[,:]?)? (?:in |from |at |it's |i'm |we're )?(?P<value>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+){0,2})",
        re.IGNORECASE,
    ),
    code="en",
    points_back=re.compile(r"(?:and )?(?:that|it)(?:'s| is) my (?:real |full |first |actual )?(?:name|birthday|b-?day|birth ?date)\b", re.IGNORECASE),
    hint=re.compile(
        r"\b(?:i|i'm|im|ive|my|mine|we|we've|we're|our|me|remember|rember|always|never|from now on|in future|going forward|stop|no more|note|forget|write down|jot|log|talking to|here|living|based|allergic|your|answers?|replies|every|each|all|back to|keep|pls|grew|just|not a|now in|moved|please|pregnant|blind|deaf|diabetic|epilep\w+|asthma\w*|\w+ic here|turned|born|raised|grew up|had|nothing|been|user|speaker|made me|promoted|household|mum|mom|dad|mother|father|by default|as a rule|as a general rule|memori[sz]e|this is|name|name's|as an?|being|"
        r"don't|whenever|mind|save|store|rule)\b", re.IGNORECASE,
    ),
    rules=(*ABOUT_REQUESTS, *ABOUT_FOOD, *ABOUT_OTHERS, *ABOUT_THINGS, *ABOUT_WORK, *ABOUT_PLACES, *ABOUT_PEOPLE, *ABOUT_TASTE),
    words={
        **TOKENS,
        "MOVE": "(?:moved|relocated|emigrated|immigrated|resettled|transferred|shifted base|upped sticks and moved|moved house)",
        "FIELD": "(?:it|hr|finance|marketing|sales|tech|publishing|education|healthcare|construction|retail|hospitality|advertising|insurance|banking|logistics|"
        "accounting|tourism|law|academia|research|customer (?:support|service)|film|television|tv|theatre|fashion|agriculture|catering|pharma|politics|"
        "the civil service|human resources|public relations|pr|cybersecurity|software|biotech|shipping|aviation|forestry|social care|childcare|events)",
    },
    small_words=SMALL_TOKENS,
    subjects={
        **SUBJECTS,
        "own": rf"(?:i|we)(?: {OFTEN}){{0,2}} own ",
        "got": "",
        "order": ORDER,
    },
    shared=frozenset({"be", "have", "own"}),
    oneself="be",
    carried="do",
    others=re.compile(r"\b(?:who|that|which|whose|he|she|they|you|people|someone|everyone|friends?|parents|sister|brother|wife|husband|to|would|could|should)\b", re.IGNORECASE),
    boundary=re.compile(
        r"[,;:!?—–()](?: |$)| - |(?<=\s)(?:and|but|so|because|since|as|while|although|though|cause|cos|coz|bc|plus|however|whereas|now that|given that|considering|also|seeing as|anyway) "
        r"|(?<=\s)(?=(?:living|based) (?:in|near)\b|with my\b)|(?<=years old )|(?<=\d yo )|(?<=-year-old )|(?<=\byear old )|[\U0001f300-\U0001faff☀-➿]️? ?",
        re.IGNORECASE,
    ),
    leads=re.compile(
        r"(?:(?:hi|hey|hello|hiya|heya|yo|greetings|good (?:morning|afternoon|evening|day)|morning|evening|ok|okay|alright|right then|well|so|anyway|anyways|also|btw|by the way|fyi|"
        r"actually|honestly|frankly|personally|seriously|sadly|unfortunately|luckily|listen|look|yes|yeah|yep|no|nope|sorry|thanks|thank you|cheers|please|pls|ps|p\.s\.|"
        r"um|uh|hmm|note|for the record|to be honest|tbh|in fact|as you know|for context|for reference|for info|context|background|just so you know|just fyi|heads up|"
        r"full disclosure|confession|fun fact|quick (?:note|intro|update)|big news|good news|update|one more thing|first(?: of all| off)?|firstly|second(?:ly)?|then|and|but|because|"
        r"since|as|now|currently|these days|nowadays|at the moment|for what it's worth|fwiw|truth is|the truth is|the thing is|thing is|fact is|it turns out(?: that)?|turns out(?: that)?|"
        r"(?:i )?(?:should|must|have to|need to|ought to|might|can|may) (?:also )?(?:mention|say|admit|confess|add|tell you)(?: that)?|i admit(?: that)?|i confess(?: that)?|"
        r"(?:you )?(?:should|need to|must|might want to|ought to|may) know(?: that)?|(?:did i mention|let me add|let me mention)(?: that)?|you see|"
        r"(?:last|this|earlier this|late last|early last) (?:week|weekend|month|year|spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|"
        r"(?:about |around |almost |nearly |over |just )?(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}|a few|some|several|a couple of|a couple) (?:years?|months?|weeks?|days?) (?:ago|back)|"
        r"in (?:january|february|march|april|may|june|july|august|september|october|november|december)|recently|yesterday|today|by trade|by profession|at home|at work|every so often|"
        r"given(?: that)?|considering(?: that)?|seeing as|now that|even though|because of that|mind you|remember|just|you can|long story short|quick question|help|ugh|argh|"
        r"one rule for (?:all )?(?:our|your|my|these|future) \w+|(?:a |one |my )?(?:standing |general |house |golden |simple )?(?:rule|request|instruction)s?(?: for (?:all )?(?:our |your |my |future )?\w+)?)"
        r"(?: there| again| all| everyone| everybody| folks| team| so much| a lot| friend)?[,.!:;]*\s+){1,4}",
        re.IGNORECASE,
    ),
    unreal=re.compile(
        r"\b(?:if(?! i (?:eat|have|touch|drink|smell)\b)|according to|imagine|suppose|supposing|assuming|assume|presume|let's (?:say|pretend|assume|imagine)|lets say|what if|were i|had i|should i (?:ever|be)|unless|pretend(?:ing)?|in case|provided|"
        r"say (?:i|that i|we|my)\b|as though|whether|hypothetically|in theory|wish(?:es|ed)?|hop(?:e|es|ing) (?:to|that|i)|some ?day|one day|if only|dream(?:s|t|ed|ing)? (?:of|that|about)|"
        r"would (?:like|love)|(?:i|we)'d (?:like|love) to|wants? to (?:be|have|own|live|move|become|work|get)|when i was|as a (?:child|kid|boy|girl|teenager|student)\b|back then|used to|once upon a time|"
        r"it(?:'s| is)(?:n't| not) (?:true|like|that|as if)|it isn't|not that i|nobody|no one|translat(?:e|ion)|(?:isn't|not) true|i (?:doubt|never said|didn't say|can't say|don't (?:think|say|believe|know)|am not saying)|"
        r"i'm not saying|thought (?:i|that i)|(?<!doctor )(?<!gp )(?<!allergist )(?<!consultant )say(?:s|ing) (?:i|that i|my)|until recently|back in the day|years ago i (?:was|had|worked|lived)|the day i|next (?:year|month|week) i|what would|how would|if i were|"
        r"maybe|perhaps|possibly|(?:said|says|claims?|thinks?|believes?|reckons?|told \w+|tells \w+|wrote|writes|replied|announced|shouted|whispered|yelled|goes|muttered|insists?),|rumou?r has it)\b"
        r"|\b(?:would like|would love)\b|\b(?:said|says|wrote|writes|replied|announced|shouted|claims|told \w+),",
        re.IGNORECASE,
    ),
    frame=re.compile(
        r"\b(?:(?:this|that|it|the following|below) (?:is|comes|was) (?:copied |taken |pasted )?from (?:an?|the|my|his|her) [\w' ]{2,40}?(?:e-?mail|letter|message|text|diary|blog|post|bio|memoir|book|note|cv|resume)s?\b|imagine|pretend|suppose|let's (?:say|pretend|imagine|assume|play|role)|lets (?:say|pretend|play)|role-?\s?play(?:ing)?|assume (?:that )?(?:i|we|my)|hypothetically|what if|"
        r"translate (?:this|the following|these|into|to)\b|(?:proofread|paraphrase|rephrase|rewrite|correct|edit|fix|translate) (?:this|the following|these|my (?:sentence|text|paragraph|intro|bio)\b)[^.!?\n]{0,60}[:.\n]|"
        r"(?:you be|you play|i'll be|i will be|i'll play) (?:the|an?|my)\b|(?:write|draft|compose|create|invent|continue|finish|complete) (?:me |us )?(?:an? |the |this |my )?(?:[\w-]+ ){0,3}?(?:story|poem|monologue|script|scene|screenplay|song|"
        r"lyrics|dialogue|diary entry|dating profile|tale|sketch|sonnet|ballad|fairy tale|novel|chapter|character|first person|fan ?fic(?:tion)?|persona|short story|soliloquy)\b[^?!.\n]{0,60}[:.\n]|"
        r"here(?:'s| is) (?:the|a|an|my|what) (?:\w+ ){0,3}(?:text|email|letter|story|poem|draft|paragraph|essay|article|message|review|script|transcript|log|quote|sentence|reply|post|said|wrote)\b)",
        re.IGNORECASE,
    ),
    made_up=re.compile(
        r"\byou(?:'re| are|'ll be| will be| be| play) (?:an?|the|my) (?:[\w-]+ ){1,4}?(?:and|,) ?(?:and )?i(?:'m| am|'ll be| will be)\b|\bi(?:'m| am|'ll be) (?:an?|the|your) (?:[\w-]+ ){1,6}?(?:and|,) ?(?:and )?you(?:'re| are|'ll be| be) (?:an?|the|my)\b"
        r"|\bin my (?:novel|story|play|book|screenplay|script|game|film|dream|poem)\b|\b(?:character sheet|my (?:[\w&-]+ ){0,2}character|the (?:narrator|protagonist|hero|heroine|villain|main character))\b|\bin (?:the )?(?:voice|style|persona|role) of\b"
        r"|\bfirst[- ]person\b|\bin character\b|\bas if (?:i|you) were\b|\bpretend(?:ing)? (?:that )?(?:to be|i'm|i am|you're|you are|my)\b|\bfor (?:the|my|our|a) (?:school )?(?:play|sketch|novel|screenplay)\b|\bsimon says\b|\btongue[- ]twister\b",
        re.IGNORECASE,
    ),
    ironic=re.compile(
        r"^\W*(?:(?:oh|ah|well|yeah|yes)[, ]+)?(?:oh (?:sure|yes|yeah|great|good|joy|wonderful|how|lovely|fantastic|brilliant|perfect|right|of course)|ah,? (?:yes|sure|great)|sure,|sure thing,|yeah,? (?:right|sure)|(?:yes|yeah),? because|oh,? i(?:'m| just| love| adore| like| so)|great,|fantastic,|wonderful,|brilliant,|lovely,|"
        r"terrific,|marvell?ous,|splendid,|superb,|perfect,|excellent,|awesome,|amazing,|wow,?|yay,?|hooray,?|whoopee,?|charming,|delightful,|fabulous,|of course|obviously|clearly|naturally,|evidently|because (?:obviously|of course|clearly|who|i (?:just|totally|really|clearly))|right,? because|"
        r"as if|as though|and i'm the|nothing says|who doesn't|what a|how (?:lovely|nice|wonderful|delightful)|just what i|apparently|surely|thank goodness|thrilled)(?!\w)"
        r"|\b(?:totally|obviously|supposedly|lucky me|what a treat|what a joy|what fun|said no ?(?:one|body)|who doesn't|yeah right|how original|big surprise|such an? (?:fan|lover)|apparently|my favou?rite thing in the world|best day ever|living the dream|just love (?:being|having|how|when|it|to|getting|waiting|paying|sitting|standing))\b",
        re.IGNORECASE,
    ),
    ironic_text=re.compile(r"(?:^|\s)/s(?:arcasm)?\b|(?:[.!?…] |^)not[.!]+(?:\s|$)|\U0001f644|\beye ?roll\b|\*sarcasm\*|\bjust kidding\b|\bjk\b|\bonly joking\b|\bi'm joking\b|(?<!\w)#sarcasm", re.IGNORECASE),
    speech=re.compile(
        r"\b(?:writ(?:e|es|ing|ten)|wrote|translat\w+|continue|rewrite|fix|proofread|sa(?:y|ys|id|ying)|read|reads|put|turn|explain|give|check|correct|summari[sz]e|edit|paraphrase|rephrase|complete|finish|asks?|asked|answer(?:ed|s)?|repl(?:y|ied|ies)|"
        r"told|tells|shout\w*|announce\w*|states?|stated|starts|begins|goes|went|sings?|sang|quotes?|quoted|types?|typed|sent|sentences?|phrases?|lines?|letters?|texts?|emails?|poems?|story|stories|characters?|lyrics|captions?|slogans?|config|errors?|logs?|titles?|"
        r"draft|bio|profile|examples?|output|input|strings?|reviews?|posters?|signs?|headlines?|mottos?|proverbs?|sayings?|comments?|regex|quer(?:y|ies)|code|function|test|prompts?|scripts?|dialogue|monologue|scene|transcript|interview|joke|riddle|game|role ?play|"
        r"user|assistant|system|human|bot|ai|narrator|customer|agent|patient|doctor|todo|bash|json|yaml|spanish|french|german|italian|japanese|portuguese|dutch|paragraph|article|essay|tweets?|posts?|subject|dear \w+|"
        r"replace|parse|match|matches|print|returns?|expected|got|imagine|suppose|pretend|like this|as follows|the following|version|wrong|grammar|greeting|template|survey|quiz|option [a-d]|[a-d]\)|he|she|they)\b"
        r"|^\s*(?!(?:fyi|ps|note|update|context|background|confession|heads up|anyway|look|listen|edit|reminder|birthday|btw|allerg\w+|diet|rule|hi|hello|hey|intro|honestly|disclaimer|warning|truth|seriously|quick|one|also|me|first|remember|memo|save|store|keep|again|rule|rules|standing|always|please|btw|fact|facts|about|second|so|ok|okay)\b)[A-Z][\w.-]{1,20}\s*$",
        re.IGNORECASE,
    ),
    goes_on=re.compile(r"[,;:—–]|\s-\s|\b(?:and|but|so)\b", re.IGNORECASE),
    explains=re.compile(r"\b(?:because|since|as|that|considering|given|cause|cos)\s*$", re.IGNORECASE),
    tag=re.compile(
        r",? (?:right|correct|(?:do|don't|am|aren't|ain't|wasn't|haven't|have|didn't|isn't|can't|won't|is) (?:i|it|we)(?: not)?|is that right|or (?:not|am i|do i)|huh|eh|yes|no|true|remember)\W*$",
        re.IGNORECASE,
    ),
    unless={
        "dislikes": re.compile(r"\b(?:any ?more|any longer|no longer|after all)\b", re.IGNORECASE),
        "instruction": re.compile(
            r"\b(?:this|these|that|those|next|below|above|attached|following) (?:\w+ )?(?:answer|reply|email|e-mail|letter|text|paragraph|draft|file|table|essay|document|one|time|chat only|message|list|chapter|section|sentence|poem|story|report|post|page|image|"
            r"picture|code|function|script|version|question|task|exercise|game|section|slide|spreadsheet|recipe|translation|summary|speech|article|project|thread|case|column|photo|scene|song)\b"
            r"|\b(?:just this once|just once|only once|for now|for today|for the next|this time|today|tonight|only here|for once|in it\b|the (?:text|draft|table|file) (?:below|above)|for the (?:rest of|duration)|never mind|never a |(?:next|coming) (?:ten|five|few|two|three|hour|minute))\b",
            re.IGNORECASE,
        ),
        "nickname": re.compile(
            r"\b(?:for|in|during) (?:this|the next|that|today's|tonight's|the) \w+|\bjust (?:this once|for now|today)\b|\b(?:call|phone|ring) (?:me )?(?:back|tomorrow|later|tonight|at \d|when|asap|on)\b|\b(?:today|tonight|don't|never|stop|nobody|no one|used to)\b",
            re.IGNORECASE,
        ),
        "remember": re.compile(
            r"\b(?:while i|drop it|forget it (?:after|later|then)|for (?:a|the next|this|one) (?:moment|minute|second|hour|few|game|trick|exercise|task|round|\w+ minutes)|for now|until (?:i|we) (?:finish|am|are|get)|just for (?:this|now)|in this (?:chat|game|exercise) only|card trick|do you|did you|the time (?:when|we|i))\b",
            re.IGNORECASE,
        ),
        "family": re.compile(r"\b(?:split up|broke up|broken up|divorced? (?:last|this|in|came)|separated|my ex\b|passed away|used to have)\b", re.IGNORECASE),
        "moved": re.compile(r"\bwhen i was\b|\band then (?:back )?to\b|\bbefore (?:moving|we moved|i moved)\b|\b(?:but|then|and) (?:i |we )?(?:moved|came|went) back\b|\bbut (?:i )?left\b|\bto tears\b|\bas a (?:child|kid)\b|\bnext (?:year|month|week)\b|\btomorrow\b", re.IGNORECASE),
        "home": re.compile(r"\b(?:for (?:the|this|a) (?:week|weekend|month|summer|night|few days)|until last|used to|when i was|before i|years ago|back then)\b", re.IGNORECASE),
        "possession": re.compile(r"\b(?:used to|before it|sold (?:it|them)|for sale|rental|rented|borrow(?:ed)?|hired?|test drive|on loan|belongs to|my (?:neighbou?r|friend|boss|flatmate)'s)\b", re.IGNORECASE),
        "pet": re.compile(r"\b(?:in my throat|to fry|in my stomach|in my bonnet|died|passed away|put down|costume|used to have|toy)\b", re.IGNORECASE),
        "age": re.compile(r"\b(?:minutes?|kilos?|kg|cm|percent|weeks? pregnant|points?|per cent|pages?) (?:away|in|old|late)?\b", re.IGNORECASE),
    },
    refused={
        "": re.compile(r"(?:(?-i:it|It)|this|that|these|those|them|him|her|you|your?|us|what|how|when|where|why|who|there|here|nothing|anything|everything|everyone|someone|something|one|ones|none|any|all|both|such|being told|me|me some|myself|the same|another|other)\b(?!['-]\w)(?! of the sea)|\W*$", re.IGNORECASE),
        "name": re.compile(rf".*\b(?:with|about|this|that|to|the|of|for|it|not|so|my|your|in|on|at|and|is|by|from|here|back|again|now)\b|(?:{english_words.NATION}|{english_words.DIET}|ok|okay|sorry|fine|in|not|so|just|still|yours|team|team \w+|ceo|cto|monday|tuesday|wednesday|thursday|friday|saturday|sunday|legend|batman|god|santa|the|speaking|lost|done|back|ready|sure|new)s?(?:$|\b(?! \w))", re.IGNORECASE),
        "nickname": re.compile(r"(?:a|an|the|if|when|later|back|tomorrow|crazy|old-fashioned|old fashioned|maybe|on|at|by|in|asap)\b", re.IGNORECASE),
        "likes": re.compile(
            r"(?:the (?:idea|way|first|second|third|fourth|new|last|other|latest|previous|look|fact|one|ones|version|sound of (?:that|it|this)|tone|result|answer|style you|direction|colou?rs?|draft|thought|layout|suggestion|concept|vibe|part|option|title|ending)\b|"
            r"my|his|their|its|our|to (?:be|think|say|know|see|hear|know|point|believe|thank|ask|keep)\b|be|get|know|see|some|more|a (?:bit|little|lot|word|quick|short|copy|refund|table)|not|if|as|for|so|too|very|much|almost|"
            r"waiting|paying|being|queu|standing in|sitting in|having to|getting (?:up|stuck|spam)|restarting|filling|doing (?:taxes|my taxes|paperwork)|surprise|traffic|delays?|invoices?|bills|taxes|spam|paperwork|forms|bugs|crashes|ads|adverts|mondays|deadlines|hold music|rush hour|trouble|problems|pain|punishment|whoever|pizza tonight)\b"
            r"|.{0,60} of$|.{0,60}\b(?:tonight|right now|today|this (?:morning|evening|week|one|version|band|song)|better|on hold|in triplicate|more than|best|at the moment)\b", re.IGNORECASE),
        "dislikes": re.compile(
            r"(?:up|to (?:say|ask|bother|admit|be|break|interrupt|complain|see|think|tell|disappoint|nag|sound|rush)\b|the (?:idea|way|first|second|third|new|last|other|latest|previous|look|fact|one|ones|version|tone|result|answer|draft|thought|suggestion|ending|title)\b|my|his|their|its|our|if|as|be|so|too|very|much|not|a lot|"
            r"i|we|we're|i'm)\b|.{0,60} of$|.{0,60}\b(?:tonight|right now|today|this (?:morning|evening|week|one|version|band|song))\b", re.IGNORECASE),
        "allergies": re.compile(
            r"(?:bad|stupid|boring|dull|cheap|long|any|every|no|pointless|corporate|early|other|some|my|his|their|getting|doing|being|waking|work(?:ing)?|certain|a few|a lot|many|several|most|food|severe|seasonal|mild)\b|(?:.{0,30}\b)?(?:mondays?|tuesdays|mornings?|meetings?|spreadsheets?|work|deadlines?|drama|nonsense|exercise|jargon|buzzwords?|small talk|effort|commitment|fun|people|emails?|"
            r"paperwork|clutter|responsibility|job|bullshit|puns?|karaoke|stupidity|idiots?|politics|gossip|housework|cardio|maths?|change|hype|fools?|excuses|powerpoint|slides|compliments|queues?|ties|romance|bureaucracy|conflict|losing|failure|boredom|taxes|socks|silence|adverbs|clich[eé]s?|noise|rudeness)\b", re.IGNORECASE),
        "diet": re.compile(r"(?:strict|healthy|balanced|new|crash|good)$", re.IGNORECASE),
        "possession": re.compile(r"(?:point|question|problem|idea|feeling|headache|deadline|meeting|mountain|mess|mistake|part|share|way|piece|bit|few|lot|pair of eyes|mind|story|right|truth|dog|cat|home of|company|business)s?\b", re.IGNORECASE),
        "work": re.compile(r"(?:(?:morning|night)(?! \w+(?: of| at|$))|home|garden|kitchen|shed|dark|rain|bed|attic|basement|sun|shade|spare room|noon|weekends|fun|free|myself|peanuts|him|her|them|you|life|way|moment|while|living|time|long|hard)\b|(?:do|did|need|want|have|got|is|be|love|like|hate) (?:this|it|that|what)\b|.{0,80}\b(?:project|deadline|essay|thesis|novel|presentation|report|cover letter|resume|slides?|assignment|problem)$", re.IGNORECASE),
        "pet": re.compile(r"[\w-]+'s\b", re.IGNORECASE),
        "health": re.compile(r"(?:spot|date|trust|test|alley|drunk|faith)\b", re.IGNORECASE),
        "home": re.compile(r"(?:fear|hope|chaos|hell|denial|peace|bed|the (?:cloud|past|moment|future|office|now|city's)|mars|heaven|my (?:head|mind|pyjamas)|interesting times)\b|I\b", re.IGNORECASE),
        "moved": re.compile(r"(?:mars|tears|the (?:next|bottom|top|back|front|end|other|second|left|right)|a different|another|plan|linux|windows|mac|python|android|ios|google|gmail|github|slack|notion|excel)\b", re.IGNORECASE),
        "origin": re.compile(r"(?:mars|accounting|hr|sales|marketing|venus|it|the (?:it|hr|sales)|earth)\b", re.IGNORECASE),
        "language": re.compile(r"(?:from|at|for|in|to|of|softly|up|out|only|too|slowly|quietly|with|on|as|about|not|sarcasm|nonsense|like|truth|the|python|java|javascript)\b", re.IGNORECASE),
        "instruction": re.compile(r"(?:never (?:mind|again|been|heard|knew|had|thought|say never|ever again)|always (?:been|wanted|loved|a|the|wondered|so|on)|be (?:able|careful|back)|need|try|go on|(?:never|always) \w+ (?:(?:this|that)\b|it again))\b", re.IGNORECASE),
        "remember": re.compile(r"(?:when|how|the (?:number|time|name|word|code word|days|film|song|movie|episode|scene)\b(?!.*\b(?:is|are)\b)|to |me\b|if|what i (?:said|told))", re.IGNORECASE),
    },
    phrase_end=re.compile(
        r"\s+(?:(?:and|but|or|&|plus|so|because|cause|cos|coz|since|which|that|who|whom|when|whenever|while|although|though|as|after|before|if|unless|until|till|than|especially|particularly|except|please|pls|too|either|neither|at all|"
        r"a lot|a bit|a ton|so much|very much|the most|as well|these days|right now|now|lol|haha|anyway|in general|in particular|in any (?:form|way)|most of all|more than|on (?:my |the )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?|"
        r"on (?:weekends|my days off|holiday|rainy days)|at (?:weekends|night|the weekend|home|work|parties)|at the moment|in (?:the (?:morning|evening|afternoon|summer|winter|rain)s?|my (?:free|spare) time|spring|summer|autumn|winter)|every \w+|"
        r"ever since|from (?:childhood|birth)|can you|could you|how|what|where|is there|are there|any (?:tips|ideas|advice|recommendations)|got any|i|i'm|i've|we|my|it|it's|is|are|was|were|has|have|always|with (?:a passion|all my heart|my whole)|"
        r"and so|for (?:breakfast|lunch|dinner|some reason|years|ages|life|good|example|now)|badly|quite badly|(?:(?:\w+ )?(?:years|months|ages)|a (?:while|long time|year)|long) ago|completely|entirely|altogether|severely|deeply|more|though|honestly|personally|frankly|tbh|obviously|since|instead|even|don't|do|just|need|looking|not|he|she|they|you)\b|-\s)",
        re.IGNORECASE,
    ),
    listing=re.compile(r"\s*(?:,\s*(?:and|or|&|plus)\s+(?:also\s+)?|\s(?:and|or|&|plus|as well as)\s+(?:also\s+)?|,\s*)", re.IGNORECASE),
    no_item=re.compile(
        r"(?:i|i'm|i've|i'd|im|ive|we|we're|you|your|it|it's|its|he|she|they|my|our|his|her|their|this|that|these|those|there|there's|is|are|am|was|were|have|has|had|do|does|did|don't|can|can't|could|should|would|will|won't|may|might|must|what|what's|which|"
        r"how|when|where|who|why|if|so|because|but|please|pls|thanks|thank|ok|okay|right|yes|no|not|never|always|need|needs|want|wants|live|lives|work|works|love|loves|like|likes|hate|hates|dislike|prefer|enjoy|enjoys|speak|speaks|own|drive|moved|got|get|make|made|"
        r"give|given|tell|suggest|recommend|help|find|show|plan|write|draft|explain|looking|look|thinking|trying|would|also|then|now|just|still|only|even|especially|particularly|any|some ideas|ideas|tips|though|although|honestly|in|on|at|for|with|to|as|by|from|the (?:ones?|more|less|kind|sort|type|whole)|am|a lot|everything|anything|nothing|something|something else|one|both|all|vice versa|keep|try|been|being|wondering|travel(?:l?ing)? (?:to|there)|swap|adapt|pick|so on|such|more|allergic|vegan|vegetarian|married|single|ideally|preferably|usually|let's|lets|cook|bake|play|go|come|know|think|feel|find|run|read|watch|listen|use|avoid|eat|drink|can)\b(?!-)",
        re.IGNORECASE,
    ),
    pairs=re.compile(
        r"\b(?:rock (?:and|&) roll|rock 'n' roll|fish and chips|black and white|arts and crafts|mac and cheese|drum and bass|peanut butter and jelly|salt and (?:vinegar|pepper)|bread and butter|gin and tonic|rhythm and blues|r and b|bed and breakfasts?|"
        r"country and western|bangers and mash|cheese and onion|sweet and sour|cookies and cream|beans on toast|cats and dogs|dungeons and dragons|trial and error|ham and cheese|burgers and fries|hide and seek|pen and paper|swords and sorcery|[A-Z][\w']+ & [A-Z][\w']+)\b"
    ),
    before={
        "": re.compile(r"(?:that|also|really|just|very|both|either|quite|definitely|certainly|probably)\s+(?=\w)|(?:anything|everything|all things)\s+(?:with|to do with|containing|about)\s+", re.IGNORECASE),
        "remember": re.compile(r"(?:that|,)\s+", re.IGNORECASE),
        "possession": re.compile(r"(?:an?|the|my own|our own|my|our|some)\s+", re.IGNORECASE),
        "pet": re.compile(r"(?:an?|the|my|our|some)\s+", re.IGNORECASE),
        "family": re.compile(r"(?:an?|the|my|our|some)\s+", re.IGNORECASE),
        "work": re.compile(r"(?:an?|the)\s+", re.IGNORECASE),
        "diet": re.compile(r"(?:an?|any)\s+", re.IGNORECASE),
        "allergies": re.compile(r"(?:an?|any|all(?: kinds of| types of)?|the)\s+", re.IGNORECASE),
        "likes": re.compile(r"an?\s+(?=\w)", re.IGNORECASE),
        "dislikes": re.compile(r"(?:an?|any)\s+(?=\w)", re.IGNORECASE),
        "language": re.compile(r"(?:(?:fluent|some|a bit of|a little|basic|good|decent|also)\s+)+", re.IGNORECASE),
    },
    after={
        "": re.compile(r"(?:[,\s]+(?:please|pls|thanks|thank you|thx|ok|okay|lol|haha|too|as well|though|cheers|btw|by the way|got it|alright|right|will you|would you|for me|yeah|tho))+\W*$", re.IGNORECASE),
        "instruction": re.compile(
            r"[,;]? (?:when(?:ever)? (?:i|you|we|they|it)\b|if (?:i|you|we|it)\b|from now on|from here on|going forward|in (?:the )?future|as a rule|by default|at all times|every time|each time|in (?:all|any|every) (?:of )?(?:your|our|my|future|repl|answer|message|chat)|for all (?:our|your|my)|"
            r"unless|until|because|since|so that|so i\b|so we\b|so it\b|it's|it is|i (?:need|find|hate|like|love|prefer|don't|can't|want|get|am)|i'm|my\b(?= (?:eyes|screen|brain|phone|printer))|otherwise|or (?:i|else)\b|they\b).*$|(?:, (?!not\b|no\b|and\b|or\b|never\b|without\b|with\b|then\b|even\b|but\b|in\b|except\b|rather\b|always\b|like\b)).*$|; .*$|, not even .*$|(?: -| —| –) .*$",
            re.IGNORECASE),
        "remember": re.compile(r"(?:[,;]? (?:so (?:please|don't|i|we|you|can|could|plan|remind|what|how)\b|if you (?:can|could|would)|will you|would you|in case\b)|[;] ).*$", re.IGNORECASE),
        "name": re.compile(r" (?:here|by the way|btw|speaking|again)$", re.IGNORECASE),
        "work": re.compile(r" (?:by trade|by profession|by day|by training|these days|myself|here|part-time|full-time|nearby|downtown|in town|abroad)$", re.IGNORECASE),
        "possession": re.compile(r" (?:myself|already|now|here|parked|sitting|lying|that|which).*$", re.IGNORECASE),
        "allergies": re.compile(r" (?:of any kind|in any form|sadly|unfortunately|and the like|products?)$", re.IGNORECASE),
        "diet": re.compile(r" (?:of any kind|products?|anymore|any more|ever|at all)$", re.IGNORECASE),
        "likes": re.compile(r" (?:the most|the best|best|most|myself|sadly|immensely|dearly|in all its forms|of any kind|of all kinds)$", re.IGNORECASE),
        "dislikes": re.compile(r" (?:the most|the most|most|myself|sadly|intensely|of any kind|of all kinds|in anything|in my food|with a passion)$", re.IGNORECASE),
    },
    listed={"health": re.compile(ILL, re.IGNORECASE), "language": re.compile(r"(?!(?:learning|studying|trying|wanting)\b)", re.IGNORECASE)},
    own_words=re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|me|we|our|ours|us|you|your)\b", re.IGNORECASE),
    asked_to_keep="Asked to remember: {value}",
    shared_tail=re.compile(
        r"\b(?:prefer|favou?r) .*?(?P<tail>\s)(?:in (?!(?:the|my|our|general|particular|any|spring|summer|autumn|winter)\b)|with(?:out)? (?!(?:a passion|all my)\b)|"
        r"by (?!(?:far|the)\b)|as (?!(?:i|we|you|it|he|she|they|well|soon|long|much|far|if|though|the)\b))(?=\w)",
        re.IGNORECASE,
    ),
    times=re.compile(
        r"(?:,? (?P<since>since [\w' ]{2,30}?|for (?:the (?:last|past) )?(?:\w+ ){1,2}(?:years?|months?|weeks?|decades?))|,? (?P<until>(?:until|till|through|up to) [\w' ]{2,30}?)|"
        r" (?P<applies>(?:when(?:ever)?|at (?:work|home|school|the office)|on (?:weekends|weekdays|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)|at weekends|in (?:emails?|chats?|meetings|summer|winter))\b[\w' ]{0,60}?))"
        r"(?=\s*[,.;:!?)(]|\s+(?:and|but|so)\b|$)",
        re.IGNORECASE,
    ),
    abbreviations=frozenset("mr mrs ms dr prof st sr jr e.g i.e etc vs no approx dept mt ft jan feb mar apr jun jul aug sept sep oct nov dec p.s d.o.b y.o a.m p.m".split()),
)  # fmt: skip
