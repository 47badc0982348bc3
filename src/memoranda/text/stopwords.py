"""Stop words: the short function words of each language, as people write them, in lower case."""

from __future__ import annotations

from typing import Final

_LISTS: Final[dict[str, str]] = {
    "en": """
        a about above after again against all also am an and any are aren't as at be because been before
        being below between both but by can can't cannot could couldn't did didn't do does doesn't doing
        don't down during each few for from further had hadn't has hasn't have haven't having he her here
        hers herself him himself his how i if in into is isn't it its itself just let me more most mustn't
        my myself no nor not of off on once only or other ought our ours ourselves out over own same
        shan't she should shouldn't so some such than that the their theirs them themselves then there
        these they this those through to too under until up us very was wasn't we were weren't what when
        where which while who whom whose why will with won't would wouldn't you your yours yourself
        yourselves dont didnt doesnt cant isnt wasnt wont""",
    "de": """
        aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin
        bis bist da damit dann das dass dein deine deinem deinen deiner dem den denn der des dessen dich
        die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines
        er es etwas euch euer eure für gegen gewesen hab habe haben habt hat hatte hatten hier hin hinter
        ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden jeder jedes
        jetzt kann kein keine keinem keinen keiner können könnte man mein meine meinem meinen meiner mich
        mir mit muss nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit
        sich sie sind so solche soll sollte sondern sonst über um und uns unser unsere unter viel vom von
        vor war waren warst warum was weil welche welcher welches wenn wer werde werden wie wieder will
        wir wird wirst wo wurde wurden würde würden zu zum zur zwar zwischen mag gibt""",
    "fr": """
        a à ai aie alors après as au aucun aussi autre aux avait avant avec avez avoir avons c car ce ceci
        cela celle celles celui ces cet cette ceux chez comme comment d dans de depuis des donc du elle
        elles en encore entre es est et étaient étais était été être eu eux fait font il ils j je l la là
        le les leur leurs lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où par parce
        pas pendant peu peut plus pour pourquoi près qu quand que quel quelle quelles quels qui quoi s sa
        sans se sera ses si son sont sous suis sur t ta te tes toi ton tous tout toute toutes très tu un
        une va vers vont vos votre vous y ça""",
    "es": """
        a al algo algunas algunos ante antes aquel aquella aquí así aunque cada como cómo con contra cual
        cuál cuando cuándo de del desde donde dónde dos durante e el él ella ellas ellos en entre era eran
        eres es esa esas ese eso esos esta está estaba estamos están estar estas este esto estos estoy fue
        fueron ha había han has hasta hay he hemos hace la las le les lo los más me mi mí mis mucho muchos
        muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero poco por porque
        que qué quien quién se sea ser si sí sido sin sobre soy son su sus también tanto te tenía tengo
        tiene tienen todo todos tu tú tus un una unas uno unos usted ustedes va y ya yo""",
    "it": """
        "" a abbiamo ad agli ai al alla alle allo anche ancora avere avete aveva avevo c che chi ci ciò co
        col come con così cui d da dagli dai dal dalla dalle dallo degli dei del dell della delle dello di
        dopo dove due e è ed era erano essere fa fra gli ha hai hanno ho i il in io l la le lei li lo loro
        lui ma me mi mia mie miei mio molto ne negli nei nel nella nelle nello no noi non nostra nostro o
        ogni per perché però più poco poi prima qual quale quando quanto quasi quella quelle quelli quello
        questa queste questi questo qui se sei sempre senza si sia siamo sono sopra sotto sta stata stato
        su sua sue sugli sui sul sulla sulle suo suoi te ti tra tu tua tue tuo tuoi tutti tutto un una uno
        vi voi""",
    "pt": """
        a à ainda além ao aos aquela aquele aquilo as às até cada com como da das de dela dele deles
        depois do dos e é ela elas ele eles em entre era eram essa essas esse esses esta está estamos
        estão estar estas estava este estes estou eu foi foram há isso isto já lá lhe lhes mais mas me
        mesmo meu meus minha minhas muito muitos na não nas nem no nos nós nossa nosso num numa o onde os
        ou para pela pelas pelo pelos por porque qual quando que quê quem são se seja sem ser será seu
        seus só sobre sua suas também tem têm tenho ter teu tinha toda todas todo todos tu tua tudo um uma
        umas uns vai você vocês vos quais dum""",
    "nl": """
        aan af al alles als altijd andere ben bent bij daar dan dat de der deze die dit doch doen door dus
        een eens en er ge geen had hadden heb hebben heeft hem het hier hij hoe hun iemand iets ik in is
        ja je jij jouw jullie kan kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu
        of om omdat onder ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor want
        waar waarom waren was wat we wel werd wezen wie wij wil wordt worden zal ze zelf zich zij zijn zo
        zonder zou welke wanneer""",
    "sv": """
        alla allt att av blev bli blir de dem den denna deras dess dessa det detta dig din dina ditt du
        där då efter ej eller en er era ert ett från för ha hade han hans har henne hennes hon honom hur
        här i icke ingen inom inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu
        när någon något några och om oss på samma sedan sig sin sina själv skulle ska som så sådan till
        under upp ut utan vad var vara varför varit vart vem vi vid vilka vilken vilket vår våra vårt åt
        än är över också bara""",
    "da": """
        ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din dine
        disse dit dog du efter eller en end er et for fra få ham han hans har havde have hende hendes her
        hos hun hvad hvem hver hvilken hvis hvor hvorfor hvordan hvornår i ikke ind jeg jer jo kan kunne
        man mange med meget men mig min mine mit mod ned noget nogle nogen nu når og også om op os over på
        selv sig sin sine sit skal skulle som sådan thi til ud under var vi vil ville vor være været blot""",
    "no": """
        alle alt at av bare begge ble blei bli blir blitt da de deg dem den denne der dere deres det dette
        di din disse ditt du då eller en enn er et ett etter for fordi fra før ha hadde han hans har
        hennes her hun hva hvem hver hvilke hvilken hvis hvor hvordan hvorfor i ikke inn ja jeg kan kom
        kunne man mange med meg meget mellom men mer min mine mitt mot mye må ned noe noen nå når og også
        om opp oss over på samme seg selv sin sine sitt skal skulle slik som så til ut uten var vart ved
        vi vil ville vår være vært å""",
    "fi": """
        ei eikä eivät emme en että ette he heidän heille heitä hän häneen hänelle hänen hänet häntä itse
        ja jo joka jonka jos jota jotka kanssa keitä kenen ketkä koska kuin kuinka kuka kun me meidän
        meille meitä mihin mikä miksi millä milloin minkä minulla minulle minun minut minua minä missä
        mistä mitkä mitä mutta mukaan myös ne niiden niin niitä nuo nyt näin nämä ole olemme olen olet
        olette oli olimme olin olisi olit olivat olla on ollut ovat se sen siellä siihen sillä sille siinä
        sinulla sinun sinua sinä siitä sitä tai te teidän tuo tämä tämän tähän tässä tästä tätä vaan vai
        vaikka voi yli hyvin vain vielä""",
    "hu": """
        a abban ahhoz ahogy aki akik akkor alatt amely ami amikor az azért azok azon azt azzal be bele
        csak de e ebben egy egyik egyéb el ellen elég én ennek és ez ezek ezért ezt ezzel fel ha hanem
        hiszen hogy hogyan hol igen ill ilyen is itt jó kell ki kicsit kik kit le lenne lesz lett ma már
        majd meg mellett mely mert mi mikor milyen mint mit miért most nagyon neki nekem nélkül nem nincs
        o ő ők olyan ott össze pedig saját sem sok számára szerint te tegnap tehát több új vagy vagyok van
        vannak volt voltam voltak vele""",
    "ro": """
        a acea aceasta această aceea acel acela acele acest acesta aceste acești acolo acum ai aici al ale
        am ar are as asta astfel atunci au avea avem aveți avut ca că când care cât ce cel cele cine cu
        cum da dacă dar de deci decât despre din după ea ei el ele era eram este eu face fi fie fiecare
        fost iar ie îl îmi în încă într înainte îți la le lor lui mai mea mei mele meu mi mult multe mulți
        ne nici nimic noi noastră nostru nu o ori pe pentru peste prea prin sa să sau se și sunt suntem
        sub sus ta tot toate toți tu un una unde unei unor unui va voi vor vostru unul""",
    "tr": """
        acaba ama ancak aslında az bana bazı belki ben beni benim bile bir biri birkaç biz bize bizi bizim
        böyle bu buna bunda bundan bunlar bunu bunun burada çok çünkü da daha de değil diye dolayı en gibi
        göre hangi hatta hem hep hepsi her hiç için ile ise işte kadar kendi ki kim mı mi mu mü nasıl ne
        neden nerede nereye niçin niye o olan olarak oldu olduğu olur on ona ondan onlar onlara onları
        onların onu onun orada oysa pek sana sanki sen seni senin siz size sizi sizin sonra şey şimdi şu
        şunu tüm üzere var ve veya ya yani yok zaten""",
    "pl": """
        a aby albo ale ani bardzo bez bo by był była było były być ci cię co coś czego czy czym czyli dla
        dlaczego do gdy gdzie go ich i im inne ja jak jaka jaki jako jakie je jeden jednak jego jej jest
        jestem jeszcze jeśli już każdy kiedy kto która które którego której który których którzy ku lub ma
        mam mamy mi miał mnie mną może mój moja moje mu my na nad nam nas nasz nasza nasze nic nich nie
        nim niż o od on ona one oni ono oraz po pod ponieważ potem przed przez przy są się skąd sobie ta
        tak także tam te tego tej ten też to tobie tu tutaj twoja twój ty tych tylko tym u w was we
        wszystko więc z za ze że żeby""",
    "ru": """
        а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до
        его ее ей ему если есть еще же за здесь и из или им их к как какая какой ко когда которая который
        которые кто ли либо меня мне может мой моя мы на над надо нас наш не него нее нет ни них но ну о
        об однако он она они оно от очень перед по под после потому почему при про с сам свой своя себя
        сейчас со так также такой там тебе тебя тем то того тоже той только том ты у уже хотя чего чей чем
        что чтобы эта эти это этого этой этом этот я""",
    "el": """
        ο η το οι τα του της των τον την τους τις και κι στο στη στην στον στους στις στα με σε από για ως
        προς κατά μετά παρά αντί χωρίς εγώ εσύ αυτός αυτή αυτό αυτοί αυτές αυτά εμείς εσείς μου σου μας
        σας που πού πως πώς ποιος ποια ποιο ποιοι τι ότι όταν αν εάν αλλά ή είτε ούτε δεν μη μην να θα
        είμαι είσαι είναι είμαστε ήταν έχω έχει έχουν είχε ένας μια μία ένα όπως όσο εκεί εδώ πολύ πιο
        γιατί κάθε κάτι""",
    "ar": """
        في من على إلى الى عن مع هذا هذه ذلك تلك هؤلاء التي الذي الذين اللواتي ما ماذا متى أين كيف لماذا هل
        هو هي هم هن أنا انا أنت انت أنتم نحن كان كانت كانوا يكون تكون ليس ليست لا لم لن قد لقد ثم أو او أم
        و ف ب ل ك إن أن ان إذا اذا لو لكن حتى كل بعض أي غير بين عند عندما قبل بعد منذ حيث فقط أيضا ايضا
        هناك هنا كما فيه فيها به بها له لها لي لك منه منها عليه عليها""",
    "fa": """
        از در به با برای که را و یا این آن این‌ها آنها ما شما من تو او ایشان است هست نیست بود بودند باشد
        شد شده می نمی هم نیز تا اما ولی اگر چون چه چرا کجا کی کدام چگونه هر همه هیچ یک بر بی پس پیش بعد
        قبل دیگر فقط خود های ها ای آیا دارد دارم داشت کرد کرده خیلی""",
    "hi": """
        का के की को में से पर है हैं था थी थे हो हूँ हूं और या भी तो ही यह ये वह वे वो इस उस इन उन इसके
        उसके इसका उसका मैं मुझे मेरा मेरी मेरे हम हमें हमारा तुम तुम्हारा आप आपका आपके आपकी एक नहीं न मत
        ने कि जो जब तब अब कब कहाँ कहां यहाँ वहाँ क्या क्यों कैसे कौन किस कुछ सब बहुत लिए साथ तक बाद पहले
        कर करना करता करते किया गया गई रहा रही रहे होता होती होते अपना अपनी अपने अगर लेकिन""",
    "ta": """
        ஒரு என்று என மற்றும் இந்த இது அந்த அது நான் நாம் நீ நீங்கள் அவர் அவள் அவன் அவர்கள் என்ன எங்கே
        எப்படி ஏன் யார் எந்த மிகவும் ஆனால் அல்லது உள்ள இல்லை உள்ளது இருந்து வேண்டும் தான் கொண்டு போது
        பின்னர் எனக்கு என் உன் உங்கள் எங்கள் ஆகும்""",
    "hy": """
        և եւ ու է էի եմ են ենք եք ես դու նա մենք դուք նրանք այս այդ այն որ որը որոնք ինչ ով որտեղ երբ
        ինչու ինչպես բայց կամ թե եթե մի իմ քո իր մեր ձեր նրա նրանց համար հետ մեջ վրա ից էր էին չէ ոչ շատ
        նաև""",
}

#: What carries no meaning where words are not set apart, and so is dropped as a character or pair
#: of it.
_SPACELESS: Final = """
    的 是 了 我 你 他 她 它 在 不 也 都 就 和 与 及 或 有 这 那 這 個 个 吗 嗎 呢 吧 啊 么 麼 们 們 什 之
    而 被 把 将 很 为 為 对 對 这个 那个 這個 那個 一个 一個 没有 沒有 因为 因為 所以 如果 可以 怎么 怎麼
    です ます した して いる ある ない こと これ それ から まで ので のは のが にな とい いう った って
    てい てし には では との もの この その ませ でし まし たい れる され ても でも せん ため よう は が
    を に で と も の へ や か ね よ な だ た て"""

#: Endings of Korean words: two syllables of them tell nothing.
_HANGUL: Final = """
    에서 에게 으로 부터 까지 하고 이나 보다 처럼 니다 습니 합니 입니 어요 아요 해요 세요 하는 했다 한다
    이다 있는 있다 것이 그리 는데 지만 면서 었다 았다 으면 하면 네요 군요 나요 까요"""

#: What French and Italian put before a word with an apostrophe.
_ELISIONS: Final = """
    l d j m t s n c qu jusqu lorsqu puisqu quoiqu un dell nell all sull dall quell quest bell sant"""
#: What follows a Korean word without a space.
_PARTICLES: Final = (
    "은 는 이 가 을 를 에 의 도 와 과 로 만 에서 에게 으로 부터 까지 하고 이나 보다 처럼"
)

#: Stop words of other languages that are English words as well, and so are weak evidence.
_ENGLISH_TOO: Final = """
    bin but by care den die dig door dug even fare fin fine for gut had hat hem her here hits men man met mine
    most mot pas sale see sin son sur tell ten tot ton under van war want ya yo"""

STOP_WORDS: Final[dict[str, frozenset[str]]] = {
    language: frozenset(words.split()) for language, words in _LISTS.items()
}
SPACELESS_STOPS: Final[frozenset[str]] = frozenset(_SPACELESS.split())
HANGUL_STOPS: Final[frozenset[str]] = frozenset(_HANGUL.split())
ELISIONS: Final[frozenset[str]] = frozenset(_ELISIONS.split())
PARTICLES: Final[frozenset[str]] = frozenset(_PARTICLES.split())
ENGLISH_TOO: Final[frozenset[str]] = frozenset(_ENGLISH_TOO.split())
