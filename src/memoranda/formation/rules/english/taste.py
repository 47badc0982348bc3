"""English rules for allergies, diet, likes and dislikes."""

from __future__ import annotations

from typing import Final

from memoranda.formation.rules.grammar import Reach, Rule

_LIST, _PHRASE = Reach.LIST, Reach.PHRASE

# One rule a line, so that they read as a table.
# fmt: off

FAN = (
    "(?:an? (?:(?:really |very )?(?:big|huge|massive|great|lifelong|longtime|long-time|die-hard|avid|total|enormous|proper|keen|dedicated|devoted|"
    "passionate) )?(?:fan of|lover of|enthusiast of|admirer of)|(?:crazy|mad|nuts|passionate|wild|enthusiastic|bonkers) (?:about|for)|"
    "(?:big )?into|keen on|fond of|partial to|hooked on|obsessed with|in love with|at my happiest when|happiest)"
)

LOVE = "(?:love|like|enjoy|adore|appreciate|treasure|relish|cherish|dig|fancy|have a (?:soft spot|weakness|passion|thing) for|have always (?:loved|liked))"

HATE = "(?:hate|detest|loathe|despise|dislike|abhor|can'?t (?:stand|bear|abide|stomach)|cannot (?:stand|bear|abide|stomach)|can not (?:stand|bear|abide))"

ABOUT_FOOD: Final = (
    Rule("allergies", r"(?:<ADJ>{0,1})?allergic to (?P<value>\w)", "Is allergic to {value}", "be", _LIST),
    Rule("allergies", r"<START>(?:(?:severely|very|badly) )?allergic to (?P<value>\w)", "Is allergic to {value}", "", _LIST),
    Rule("allergies", r"(?:as|being) (?:someone )?(?:who is |who's )?(?:(?:severely|very|badly) )?allergic to (?P<value>\w)", "Is allergic to {value}", "", _LIST),
    Rule("allergies", r"(?:suffer from |live with )?(?:an?|my|this) (?:<ADJ>{0,2}?)(?:allergy|intolerance|sensitivity|allergic reaction) to (?P<value>\w)", "Is allergic to {value}", "have", _LIST),
    Rule("allergies", r"(?:suffer from|live with|'ve developed|developed|deal with|have developed) (?:an? )?(?:<ADJ>{0,2}?)(?:allergy|intolerance|sensitivity) to (?P<value>\w)", "Is allergic to {value}", "do", _LIST),
    Rule("allergies", r"an? (?:(?:severe|bad|mild|serious|strong|nasty|terrible|life-threatening|lifelong|known) )*(?P<value>[\w'-]+(?: [\w'-]+)?)[- ](?:allergy|intolerance)(?=\s*(?:[,.;:!?)(—–]|-\s|$)|\s+(?:<STOPS>|making)\b)", "Has {value} allergy", "have"),
    Rule("allergies", r"(?:suffer from|live with) an? (?:(?:severe|bad|mild|serious) )*(?P<value>[\w'-]+(?: [\w'-]+)?)[- ](?:allergy|intolerance)\b", "Has {value} allergy", "do"),
    Rule("allergies", r"<START>(?P<value>(?!no\b|any\b)[\w'-]+(?: [\w'-]+)?) (?:allergy|intolerance|allergies) (?:here|sufferer here)\b", "Has {value} allergy"),
    Rule("allergies", r"(?P<value>(?!no\b|any\b)[\w'-]+(?: [\w'-]+)?) (?:allergy|intolerance)\b[^.?!]{0,40}?\band i(?:'ve| have|)(?: got)? (?:it|one|that)\b", "Has {value} allergy"),
    Rule("allergies", r"my (?:(?:severe|bad|mild|terrible|stupid|annoying|damn) )?(?P<value>(?!food\b|seasonal\b|skin\b)[\w'-]+(?: [\w'-]+)?) (?:allergy|intolerance|allergies)\b", "Has {value} allergy"),
    Rule("allergies", r"(?P<value>[\w'-]+)[- ]intolerant\b", "Cannot tolerate {value}", "be"),
    Rule("allergies", r"intolerant (?:to|of) (?P<value>\w)", "Cannot tolerate {value}", "be", _LIST),
    Rule("allergies", r"(?:an? )?(?P<value>coeliac|celiac)\b", "Has {value} disease", "be"),
    Rule("allergies", r"(?P<value>coeliac|celiac)(?: disease)?\b", "Has {value} disease", "have"),
    Rule("allergies", r"i <CANNOT> (?:tolerate|digest|eat|have|touch|handle|go near) (?:any )?(?P<value><ALLERGEN>)(?! (?:right|today|tonight|this|now))<END>", "Cannot have {value}", "", _LIST),
    Rule("allergies", r"(?:my body|my stomach|my gut) (?:can't|cannot|doesn't) (?:tolerate|digest|handle) (?P<value><FOOD>)", "Cannot have {value}", "", _LIST),
    Rule("allergies", r"(?:react|have a reaction) (?:badly |terribly |strongly |severely )?to (?P<value><ALLERGEN>|[\w-]+ stings?|penicillin|latex|pollen|nickel|aspirin|ibuprofen)", "Is allergic to {value}", "do", _LIST),
    Rule("allergies", r"(?:get|break out in|come out in) (?:an? )?(?:hives|rash|itchy|a reaction) from (?P<value>\w)", "Is allergic to {value}", "do", _LIST),
    Rule("allergies", r"(?:carry|have|need|keep) an (?:epi-?pen|auto-?injector) (?:for|because of|due to) (?P<value>\w)", "Is allergic to {value}", "do", _LIST),
    Rule("allergies", r"(?:very |highly )?sensitive to (?P<value><ALLERGEN>|[\w-]+ stings?|penicillin|latex|pollen|nickel|aspirin)", "Is allergic to {value}", "be", _LIST),
    Rule("allergies", r"(?P<value><ALLERGEN>|penicillin|latex|caffeine) (?:doesn't|does not|don't|do not|never) agrees? with me\b", "Cannot have {value}"),
    Rule("allergies", r"(?P<value><ALLERGEN>|penicillin|latex|caffeine) disagrees? with me\b", "Cannot have {value}"),
    Rule("allergies", r"(?P<value><ALLERGEN>|[\w-]+ stings?|penicillin|latex|pollen|nickel|aspirin|cat hair|dog hair|dust) (?:makes? me (?:ill|sick|swell|break out|itch|wheeze|sneeze|come out)|gives? me (?:hives|a rash)|brings? me out in|sends? me (?:in)?to (?:hospital|a&e|anaphyla))", "Is allergic to {value}"),
    Rule("diet", r"(?:(?:an?|fully|completely|entirely|raw|lifelong|committed|strict|devout|longtime|long-time|life-long|new|recent|proud|practising|practicing|happy|mostly|both|100%) )*(?P<value><DIET>)s?\b(?!['\w-]| (?:for (?:january|lent|veganuary|ramadan)|chef|cook|baker|owner|curious|at heart|for (?:the|a|one) (?:day|week|month)|this|today|tonight|on mondays|diet|athlete|blogger|food blogger))", "Is {value}", "be"),
    Rule("diet", r"(?:we're|we are|we've been|my (?:wife|husband|partner|family) and i are|we both are|our (?:family|household|home|kitchen) is) (?:all |both |strictly |fully |mostly )*(?P<value><DIET>)s?\b", "Is {value}"),
    Rule("diet", r"(?:follow|eat|keep to|stick to|do|maintain|stick with) an? (?:(?:strict|mostly|very|doctor's) )*(?P<value>(?!(?:balanced|healthy|good|varied|normal|big|small|lot)\b)[\w-]+(?: (?!diet)[\w-]+)?) (?:diet|way of eating)\b", "Follows a {value} diet", "do"),
    Rule("diet", r"eating (?:(?:strictly|only|mostly) )?(?P<value><DIET>)\b", "Is {value}", "be"),
    Rule("diet", r"i only eat (?P<value><FOOD>)<END>", "Only eats {value}", "", _LIST),
    Rule("diet", r"no (?P<value><FOOD>) for me\b(?! (?:today|tonight|right now|this))", "Does not eat {value}"),
    Rule("diet", r"on an? (?:(?:strict|very|permanent|medical|lifelong) )*(?P<value>(?!(?:strict|new|crash|constant|balanced|healthy|good)\b)[\w-]+(?: (?!diet)[\w-]+)?) diet\b", "Follows a {value} diet", "be"),
    Rule("diet", r"(?:(?:only|just|exclusively|strictly) )?(?:keep|eat|stay|cook|drink|follow|observe|do)(?: (?:strictly|only|mostly|exclusively|purely|fully|strict|entirely|a))* (?P<value><DIET>)\b(?! (?:diet|restaurants))", "Keeps {value}", "do"),
    Rule("diet", r"i <CANNOT> eat (?:any )?(?P<value><FOOD>)(?! (?:right|today|tonight|this|now))<END>", "Does not eat {value}", "", _LIST),
    Rule("diet", r"(?:i|we) <NOT> (?:eat|touch|consume|cook|do|have) (?:any )?(?P<value>(?:(?:any|all|red|raw|fried) )?<FOOD>)(?! (?:right|today|tonight|this|now))<END>", "Does not eat {value}", "", _LIST),
    Rule("diet", r"(?:i|we) <NOT> eat (?!(?:much|well|breakfast|lunch|dinner|out|there|it|that|this|these|those|a|enough|anything|everything|at|in|before|after|when|if|like|with|too|so|very|more|as|often|here|properly|late|until|any more|anymore)\b)(?P<value>[a-z]+)", "Does not eat {value}", "", _LIST),
    Rule("diet", r"(?:i|we) <NOT> drink (?:any )?(?P<value>alcohol|coffee|caffeine|milk|cow's milk|dairy|beer|wine|spirits|soda|fizzy drinks|tea)\b(?! (?:after|before|in the|at night|right|today))", "Does not drink {value}", "", _LIST),
    Rule("diet", r"(?:avoid|abstain from|stay away from|steer clear of|stay off|skip|cut out) (?:all |any )?(?P<value><FOOD>)(?! (?:today|tonight|this|for (?:a|the|one)))<END>", "Avoids {value}", "do", _LIST),
    Rule("diet", r"(?:i|we)(?:'ve|ve| have)?(?: (?:just|recently|finally))* (?:given up|gave up|cut out|sworn off|quit eating|stopped eating|stopped drinking) (?P<value><FOOD>)(?! for (?:lent|a|the|january))(?:(?= (?:years|a (?:year|while|long time)|\w+ (?:years|months)) ago)|<END>)", "Does not have {value}", "", _LIST),
    Rule("diet", r"(?:i|we)(?:'ve|ve| have)?(?: (?:just|recently|finally))* (?:went|gone|turned|become|became|been eating|switched to|been keeping|been)(?: (?:fully|completely|strictly|an?))* (?P<value><DIET>)\b(?! for (?:a|the|one))", "Is {value}"),
    Rule("diet", r"<START>(?P<value><DIET>)s? here\b", "Is {value}"),
    Rule("diet", r"(?:as|being) (?:an? )?(?:(?:strict|lifelong|committed|new) )*(?P<value><DIET>)(?=\s*,|\s+(?:i|myself|who)\b)", "Is {value}"),
    Rule("diet", r"my diet(?:'s| is) (?:strictly |mostly |fully )?(?P<value><DIET>)\b", "Is {value}"),
)

ABOUT_TASTE: Final = (
    Rule("dislikes", rf"(?:not|no|never been|not really|never) (?:(?:really|much|exactly|particularly|very|too|terribly|that|at all|big) )*{FAN} (?P<value>\w|<COVERED>)", "Dislikes {value}", "be", _LIST),
    Rule("dislikes", r"(?:not much of an? |not an? |no )(?:big |huge |great |massive )?(?P<value>[\w-]+) (?:fan|lover|person)\b", "Dislikes {value}", "be"),
    Rule("dislikes", r"(?:no fan of|(?:sick|tired) and tired of|put off by|repulsed by|averse to|disgusted by|scared of|terrified of) (?P<value>\w)", "Dislikes {value}", "be", _LIST),
    Rule("dislikes", rf"{HATE} (?P<value>\w|<COVERED>)", "Dislikes {value}", "do", _LIST),
    Rule("dislikes", r"(?:i|we) (?:(?:really|just|honestly|personally|truly) )*(?:don't|do not|dont|never|didn't ever) (?:(?:really|much|particularly|even|actually|at all|especially) )*(?:like|liked|enjoy|enjoyed|love|care for|fancy|appreciate|cared for) (?P<value>\w)", "Dislikes {value}", "", _LIST),
    Rule("dislikes", r"have (?:a strong dislike|a hatred|a (?:deep |real )?aversion|no love|a loathing|an aversion|a dislike) (?:of|for|to) (?P<value>\w)", "Dislikes {value}", "do", _LIST),
    Rule("dislikes", r"have no (?:time|patience|interest|love|use) (?:for|in) (?P<value>\w)", "Dislikes {value}", "do", _LIST),
    Rule("dislikes", r"not (?:so |very |really |too |that )?(?:big|sold|hot|wild|mad|crazy|nuts) (?:on|about) (?P<value>\w)", "Dislikes {value}", "be", _LIST),
    Rule("dislikes", r"(?P<value>(?!it\b|that\b|this\b|he\b|she\b)[\w'-]+(?: [\w'-]+){0,2}?) (?:tastes? like|turns? my stomach|grosses me out|gets? on my nerves|drives? me (?:mad|crazy|up the wall|nuts))\b", "Dislikes {value}"),
    Rule("dislikes", r"(?P<value>(?!it\b|that\b|this\b|there\b|he\b|she\b|they\b|what\b)[\w'-]+(?: [\w'-]+){0,3}?) (?:is|are)(?: really| just)?(?:n't| not) (?:my (?:thing|cup of tea|favou?rite|jam)|for me)\b", "Dislikes {value}"),
    Rule("dislikes", r"my least favou?rite [\w -]{2,30}? (?:is|are) (?P<value>\w)", "Dislikes {value}", "", _LIST),
    Rule("likes", rf"{FAN} (?P<value>\w|<COVERED>)", "Likes {value}", "be", _LIST),
    Rule("likes", r"an? (?:big |huge |massive |keen |avid |real |total |passionate |die-hard )?(?!(?:big|huge|such|night|morning|people)\b)(?P<value>[\w-]+(?: [\w-]+)?) (?:fan|lover|enthusiast|buff|addict|aficionado|nerd|geek)\b", "Likes {value}", "be"),
    Rule("likes", r"(?:prefer|favou?r) (?!(?:to be|if|when|that|not|it|this)\b)(?P<value>[^.,;:!?()\n—–]{2,60}?)(?= (?:to|over|rather than|instead of|than|any day)\b)", "Prefers {value}", "do"),
    Rule("likes", r"(?:prefer|favou?r) (?!(?:to be|if|when|that|not|it|this)\b)(?P<value>\w|<COVERED>)", "Prefers {value}", "do", _LIST),
    Rule("likes", rf"{LOVE} (?P<value>\w|<COVERED>)", "Likes {value}", "do", _LIST),
    Rule("likes", r"(?:i|we)(?:'ve| have) always (?:loved|liked|enjoyed|adored) (?P<value>\w)", "Likes {value}", "", _LIST),
    Rule("likes", r"nothing makes me happier than (?P<value>\w)", "Likes {value}", "", _LIST),
    Rule("likes", r"(?:i|we)(?:'ve| have) (?:got )?(?:an? )?(?:(?:real|huge|big|massive|total) )?(?:soft spot|weakness|passion|thing|love) for (?P<value>\w)", "Likes {value}", "", _LIST),
    Rule("likes", r"(?:i )?(?:can't|cannot|cant) (?:get enough of|live without|resist) (?P<value>\w)", "Likes {value}", "do", _LIST),
    Rule("likes", r"(?:my|our) (?:all-time |absolute |one )?favou?rite(?P<what> (?!part\b|thing\b|bit\b)[\w -]{2,30}?)?(?: of all(?: time)?| ever)? (?:is|are|has to be|would be|has always been|must be) (?:definitely |probably |still |always )?(?P<value>\w|<COVERED>)", "Favourite {what}: {value}", "", _PHRASE, key="favourite {what}"),
    Rule("likes", r"(?P<value>(?!it\b|that\b|this\b|what\b|which\b|he\b|she\b)[\w'-]+(?: [\w'-]+){0,3}?) (?:is|are) my (?:all-time |absolute )?favou?rites?(?P<what> (?!part\b|thing\b|bit\b)[\w -]{2,30}?)?<END>", "Favourite {what}: {value}", key="favourite {what}"),
    Rule("likes", r"my (?:biggest |main |greatest )?(?:hobby|passion|hobbies|passions|interests?|pastime|guilty pleasure)(?:'s| is| are| include) (?P<value>\w)", "Likes {value}", "", _LIST),
)
