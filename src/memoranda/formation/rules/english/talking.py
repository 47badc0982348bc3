"""English rules for standing instructions and requests to remember."""

from __future__ import annotations

from typing import Final

from memoranda.formation.rules.grammar import Reach, Rule

_CLAUSE = Reach.CLAUSE

# One rule a line, so that they read as a table.
# fmt: off

ABOUT_REQUESTS: Final = (
    Rule("instruction", r"(?<![\s\S])(?P<value>stop (?:calling|using|adding|writing|putting|giving|saying|asking|apologi[sz]ing|repeating|ending|starting|suggesting|telling|including|recommending|sending|making) [^.!?]{2,120})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:please |pls )*<EVER>[,:]? (?:please |i(?:'d| would) like you to |i want you to |you should |could you |can you |i need you to )*(?P<value>(?!call me|remember\b)(?:<VERB>|no )\b[^.!?]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?<![\s\S])(?:<WHENEVER>)(?: (?:please|always|just|then|i(?:'d| would) like you to|i want you to|you should))* (?P<value>(?:<VERB>)\b[^.!?]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:please |pls |also |and |just )*(?P<value>(?:always|never|(?:don't|do not|dont) ever) (?:ever )?<VERB> [^.!?]{2,160})", "{value}", "order", _CLAUSE, asked=True),
    Rule("instruction", r"(?<![\s\S])(?:please |pls )*(?:make sure|be sure|ensure|remember|don't forget)(?: that)?(?: you| to)* (?P<value>(?:always|never) (?:ever )?<VERB> [^.!?]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:i(?:'d| would)? (?:want|like|need|prefer|expect|love) (?:for )?you to|you (?:should|must|need to|have to|can)|(?:can|could|would|will) you(?: please)?|i(?:'d| would) (?:prefer|like|appreciate) it if you(?: would)?) (?P<value>(?:always|never) (?:ever )?[a-z]+ [^.!?]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?<![\s\S])(?:please |pls )*(?P<value>(?!call me)(?:don't|do not|dont|<VERB>) [^.!?]{2,160}?)(?=,? (?:from now on|from here on|going forward|in (?:the )?future|ever again|as a rule|by default|at all times|every time|each time|when(?:ever)? you (?:write|answer|reply|talk|respond|speak|explain|message)|whenever (?:i|you|we)|in all (?:your|our)|for all (?:our|your|my)|in every (?:answer|reply|message)|in any (?:answer|reply|message))\b)", "{value}", asked=True),
    Rule("instruction", r"(?<![\s\S])no more (?P<value>(?:emojis?|bullet points|exclamation marks|apologies|disclaimers|jokes|puns|small talk|lists|tables|headings)\b[^.!?]{0,60})", "No more {value}", asked=True),
    Rule("instruction", r"<START>(?P<value>(?:every|each|all(?: of)?)(?: your| the)? (?:answers?|repl(?:y|ies)|responses?|messages?) (?:should|must|needs? to|has to|have to) [^.!?]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"i (?P<value>(?:always|never) (?:want|need) [^.!?]{2,160})", "{value}", reach=_CLAUSE),
    Rule("remember", r"(?:(?:can|could|will|would) you |please |pls |plz |i(?:'d| would) like you to |i want you to |i need you to |<EVER>,? |you should |you need to |do |also |and )*"
         r"(?:please |pls |always |just )*(?:re?m(?:em)?be?r|rememebr|remeber|keep (?:this |it )?in mind|bear (?:this |it )?in mind|note to self|reminder(?: to self)?|don't forget|do not forget|dont forget|never forget|make a (?:mental )?note|take (?:a )?note|(?<=please )note|note down|note(?=:| that (?:my|our|i|we)\b)|write down|jot down|memori[sz]e|this is|name|name's|as an?|being|save|store|log|hold on to the fact|file away)"
         r"(?: (?:for me|for later|for next time|for the future|somewhere|please|this|down))*(?: that|: ?|,| -| —|,? that) (?P<value>(?!(?:time|day|one|moment|scene|song|film|movie|episode|feeling)\b)\w[^?!]{4,300})", "{value}", reach=_CLAUSE, asked=True),
    Rule("remember", r"(?:(?:can|could|will|would) you |please |pls |plz |i(?:'d| would) like you to |i want you to |i need you to |<EVER>,? |also |and )*"
         r"(?:please |pls |always |just )*(?:re?m(?:em)?be?r|rememebr|remeber|keep in mind|bear in mind|don't forget|do not forget|dont forget|note)"
         r"(?: (?:for me|for later|please))* (?P<value>(?:my|our|the|i|we|<CAP>)\b[^?!]{1,60}? (?:is|are|isn't|aren't|has|have|was|were|will|won't|goes?|lives?|needs?|starts?|ends?|closes?|opens?|costs?|comes?|runs?|takes?|changes?|means?|leaves?|lands?|arrives?|departs?|visits?|expires?|turns?|moves?|stays?|meets?|happens?|falls?|sits?|plays?|works?|keeps?|ships?|belongs?|hangs?|got|gets?|stands?|hates?|loves?|likes?|prefers?|can't|can|must|don't|doesn't)\b[^?!]{1,200})", "{value}", reach=_CLAUSE, asked=True),
)
