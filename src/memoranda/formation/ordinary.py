"""Ordinary words: what a line of experience may say whomever it serves, unless somebody is called so."""

from __future__ import annotations

from typing import Final

#: Long words of work, and nouns that German writes with a capital; in lower case, of one word without its plural.
WORK: Final = """
    ability accept accepted access account accuracy accurate action actions active add added additional address
    adjust advance advice after again agent agree alert allergies allergy alternative alternatives always analysis
    annoy annoyed answer answered answers anything app appear application applying appointment appointments approach
    appropriate approval argument article ask asked asking assistant assume assumed assuming assumption assumptions
    attachment attachments automatically available avoid avoids background backup balance batch because before begin
    behaviour behavior best better between blank block book booking bookings brief briefly browser budget bullet
    bullets business button cache calendar call calls cancel cancellation card careful carefully case category cause
    caution change changed changes channel characters chart check checked checking choice choices choose chosen
    clarification clarify clarifying clear clearly client clients close code colour color column columns combine
    command comment comments common compare comparison complaint complaints complete completely complex concise
    concrete condition conditions configuration confirm confirmation confirmed confirming confirms conflict confusing
    connection consider consistent constraint constraints contact content context continue conversation conversations
    convert copy correct correction corrections correctly cost costs count country course create created credentials
    critical currency current customer customers customer daily data database date dates day days deadline deadlines
    decide decision decisions default delay delete deliver delivery dependencies dependency describe description
    design detail details development device diagram dietary difference different difficult direct directly
    directory discount discuss dislike dislikes display document documentation documents double download draft
    drafts duplicate during early easily edit effective effort either email emails empty encoding end english enough
    ensure entire entry environment error errors estimate even event every exact exactly example examples except
    exception exceptions excerpt exercise exercises existing expect expectation expectations expected expensive
    experience explain explained explaining explanation explanations explicit explicitly export extra extract factor
    fail failed fails failure failures familiar family fast feature features feedback field fields figure file files
    filter final finally find finish first fit flight flights flow folder follow following food form formal format
    formats formatting formula free frequent frequently friendly full function functions further general generate
    generated give given good greet greeting greetings group guess guide guideline guidelines handle hand heading
    headings health help helpful helps hide high hint history holiday holidays hotel hotels hour hours ideal idea
    ideas image images immediate immediately immediately implementation import important improve improvement
    improvements include included including incomplete increase index indicate individual infer informal information
    ingredient ingredients initial input inputs inspect install installation instead instruction instructions
    integration intention interest interested interface international introduce introduction investigate invoice
    invoices issue issues item items itinerary iteratively job keep keeps key keyboard know known label language
    languages large later layout lead learn learning leave length less lesson level library like likes limit limited
    limits line lines link links list lists literally local location log logs long longer look lower mail main make
    making manual many mark markdown match matches matter meal meals mean meaning measure measurement measurements
    medication meeting meetings mention mentioned menu message messages method metric migration minimum minute
    minutes mistake mistakes mobile mode model modern money month monthly months move movie movies multiple name
    names narrow necessary need needed needs negative network never next night note notes nothing notification
    notifications notify now number numbers object objective obvious offer offered offers office often old once
    open opening operation opinion option optional options order orders organise organize original other otherwise
    outline output outside overview page pages paragraph paragraphs parameter parameters part partial particular
    password path patience patient pattern patterns payment payments people percent perform performance period
    permission permissions permanently person personal phrase pitfall plain plan planned planning plans platform
    please point points policy polite politely portion positive possibilities possible practical precise prefer
    preference preferences preferred prefers preparation prepare present presentation prevent previous previously
    price prices print priority privacy probably problem problems procedure process product production products
    professional profile program progress project projects promise prompt proper properly propose provide provided
    provider public purchase purpose quality quantity query question questions quick quickly quote quotes range rate
    rather read readable reading ready real reason reasonable reasons receipt receipts recap receive recent recipe
    recipes recommend recommendation recommendations recommended record records reduce refer reference references
    refund refunds refuse region regular related release relevant reliable remember remind reminder reminders remove
    rent repeat repeated repeatedly repeating rephrase replace replied reply report reports repository request
    requested requests require required requirement requirements requires reschedule research reservation
    reservations resolve resource resources respond response responses responsibility rest restaurant restaurants
    restriction restrictions result results retries retry return returned returns reveal review reviews rewrite
    right risk role room rough round route row rows rule rules run running safe safety same sample save say says
    schedule scheduled scheduling schema scope score screen screenshot screenshots script search second seconds
    secret section sections security select send sending sensitive sentence sentences separate separately sequence
    series serious server service services session set setting settings several share sharp shipping short shorter
    show showing shown shows similar simple simply single site situation size skip slow small software solution
    solutions someone something sometimes sorry sort source sources space special specific specifically
    specification spelling split stage standard start started state statement status step steps stop store story
    strategy strategies string strong structure structured style subject subscription successful successfully
    suggest suggested suggesting suggestion suggestions suggests suitable summaries summarise summarize summary
    supply support sure syntax system table tables talk task tasks team technical technique temperature temporary
    terminal terminology terms test tests text texts thank thanks thing things think thorough thoroughly ticket
    tickets time timeout timestamp timezone title today together tomorrow tone tool tools topic topics total tracking
    traffic train transaction translate translated translation translations transport travel trip trips trouble
    troubleshooting true try tutorial type types typical typically understand understanding underlying unexpected
    unit units unknown unless unnecessary until unusual update updated updates upload urgent useful user users usually
    validate validation value values variable variables variant vegetarian verify version versions video view visible
    visit visual wait waiting want wanted wants warn warning warnings weather website week weekly weeks welcome which
    while whole will window wish without wording words word work working works workflow workflows worked write
    writing written wrong year years yesterday yes young accessibility accidentally announcement characteristic
    communicate communication comprehensive concentrate consequence considering constantly continuing convenience
    coordinate customise customize decrease demonstrate demonstration destination distinguish diplomatic efficient
    efficiently elaborate emphasise emphasize encouragement encourage encouraging enthusiastic escalate escalation
    essential evaluate everything expiration explicitness frustrated frustrating frustration identifier identify
    impatient independent indication inconsistent incorrect infrastructure instructing interruption
    irrelevant knowledge likewise maintenance mandatory misunderstanding misunderstood notebook observation
    occasionally opportunity overwhelming participant permit perspective placeholder practice precaution
    precisely preliminary prerequisite presenting prioritise prioritize proactively programming proofread
    questionnaire reassurance recognise recognize redundant regarding relationship reluctant respectful restate
    satisfaction satisfied scenario simplified simplify spreadsheet stakeholder straightforward subsequent substitute
    sufficient suggesting surprising synchronise systematically technically template temporarily transparent
    transparency typo uncertain uncertainty unclear uncomfortable undo unfamiliar unfortunately unrelated unsure
    vocabulary voluntary
    termin termine rechnung rechnungen antwort antworten frage fragen datei dateien nutzer benutzer kunde kunden
    sprache beispiel beispiele fehler ergebnis ergebnisse liste listen schritt schritte zahl zahlen wort worte satz
    text texte bestellung bestellungen lieferung adresse datum uhrzeit zeit tag woche monat jahr preis preise
    zusammenfassung vorschlag vorschlaege vorschläge anfrage anfragen bestaetigung bestätigung erklaerung erklärung
    nachricht nachrichten aufgabe aufgaben werkzeug werkzeuge tabelle tabellen absatz rückfrage rückfragen
    einheit einheiten möglichkeit möglichkeiten grund gründe ziel ziele plan pläne reise reisen rezept rezepte zutat
    zutaten film filme buch bücher quelle quellen ton anrede höflich kurz lang genau bitte immer nie zuerst
    pergunte perguntar sempre nunca antes resposta respostas pergunta perguntas usuário usuários exemplo exemplos
    lista listas data datas resumo reserva reservas passos passo arquivo arquivos
"""

#: Names that are nobody's: days, months, tongues, formats and products that many users share.
NAMES: Final = """
    monday tuesday wednesday thursday friday saturday sunday mondays fridays weekend weekends january february march
    april june july august september october november december christmas easter montag dienstag mittwoch donnerstag
    freitag samstag sonntag januar februar märz juni juli oktober dezember segunda terça quarta quinta sexta sábado
    domingo janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
    english german french spanish italian portuguese dutch japanese chinese korean russian arabic hindi turkish
    polish swedish deutsch englisch französisch português inglês europe european american british celsius fahrenheit
    ai api apis ascii ansi aws azure bash cli cpu css csv docker docx email emoji excel faq fastapi ftp gb gdpr git
    github gitlab gmail google gpu gpt graphql gui html http https id ids iso iphone android ios ipad java javascript
    jpeg jpg jira json kb kubernetes k8s latex linux llm mac macos markdown mb microsoft mongodb mp3 mp4 mysql npm
    numpy oauth oauth2 ok openai os outlook pandas pdf pdfs php pip png postgres postgresql powerpoint pydantic
    pytest python python3 pytorch rag ram react redis regex rest ruby rust s3 sdk seo sha256 slack sms smtp sql sqlite
    ssh ssl svg swift tcp teams tls todo toml tsv typescript ubuntu udp ui unicode uri url urls usb usd eur utc
    utf8 uuid ux vpn windows word xml yaml youtube zip zoom base64 ec2 h264 ipv4 ipv6
"""

#: The same where words are not spaced; longer ones are taken out of a line before shorter ones.
UNSPACED: Final = """
    質問 回答 確認 日本語 英語 中国語 会話 説明 提案 情報 入力 出力 表示 確定 選択 設定 検索 結果 予約 注文 日付 時間 時刻 場所
    理由 具体 具体的 例 短 長 簡潔 丁寧 敬語 最初 最後 前 後 毎回 必 文 文章 一文 箇条書 利用者 相手 顧客 お客 客 必要 場合 方法
    手順 詳細 要約 翻訳 単位 形式 提示 依頼 返信 返答 内容 変更 注意 希望 好 聞 答 使 先 言語 話 書 読 送 見 待 食 行 思 出 入 付
    ユーザー メール ファイル データ テキスト リスト ツール エラー メッセージ コード テスト サービス システム アレルギー ホテル レストラン
    问题 回答 确认 中文 英文 用户 客户 信息 建议 说明 详细 简短 例子 日期 时间 语言 文件 结果 预订 订单 步骤 方法 首先 之前 之后
    请 先 问 再 简单 列表 格式 翻译
"""
