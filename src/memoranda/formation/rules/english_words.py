"""Word lists for English rules: kin, animals, possessions, work, diets, languages, dates."""

from __future__ import annotations

from typing import Final


def any_of(words: str) -> str:
    """Return one pattern for a list of words; an underscore matches a space or a hyphen."""
    longest_first = sorted(set(words.split()), key=lambda word: (-len(word), word))
    return "(?:" + "|".join(word.replace("_", "[ -]") for word in longest_first) + ")"


_UNITS = "one|two|three|four|five|six|seven|eight|nine"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
NUMBER: Final = rf"(?:(?:{_TENS})(?:[ -](?:{_UNITS}))?|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:{_UNITS})|\d{{1,3}})"
#: A person's age in years, from eight.
AGE: Final = (
    rf"(?:(?:{_TENS})(?:[ -](?:{_UNITS}))?|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|[89]|[1-9]\d|10\d|11\d)(?![\d%:])"
)
COUNT: Final = (
    rf"(?:an?|{_UNITS}|ten|eleven|twelve|[1-9]\d?|several|some|a couple of|a few|both|twin)"
)
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_NTH = (
    r"(?:\d{1,2}(?:st|nd|rd|th)?|(?:twenty|thirty)[ -](?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)"
    "|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|(?:thir|four|fif|six|seven|eigh|nine)"
    "teenth|twentieth|thirtieth)"
)
_YEAR = r"(?:,? (?:19|20)\d\d)?"
DATE: Final = (
    rf"(?:(?:the )?{_NTH}(?: of)? {_MONTH}\b{_YEAR}|{_MONTH} (?:the )?{_NTH}\b{_YEAR}|\d{{1,2}}[./-]\d{{1,2}}(?:[./-]\d{{2,4}})?"
    r"|\d{4}-\d\d-\d\d|Christmas(?: Day| Eve)?|Boxing Day|New Year's(?: Day| Eve)|Valentine's Day|Halloween|Midsummer(?: Day)?"
    r"|Bastille Day|St\.? Patrick's Day|April Fools'?(?: Day)?|leap day)"
)

_KIN_ONE = (
    "gf bf hubby mum mom mam mommy mummy mother dad daddy father sister brother sibling son daughter kid child baby toddler wife husband spouse "
    "partner fianc\u00e9e? fiancee? girlfriend boyfriend grandson granddaughter grandchild niece nephew cousin aunt auntie uncle grandma "
    "grandpa grandmother grandfather granny gran grandad granddad nan stepson stepdaughter stepmother stepfather stepmum stepmom stepdad "
    "stepbrother stepsister godson goddaughter goddaughter twin teenager teen boy girl half_brother half_sister foster_son "
    "foster_daughter foster_child mother-in-law father-in-law sister-in-law brother-in-law son-in-law daughter-in-law great-grandson"
)
_KIN_MANY = (
    "parents sisters brothers siblings sons daughters kids children babies toddlers twins triplets grandsons granddaughters grandchildren "
    "nieces nephews cousins aunts uncles grandparents stepsons stepdaughters stepchildren stepkids teenagers teens boys girls in-laws "
    "half_brothers half_sisters foster_children foster_kids"
)
KIN: Final = any_of(f"{_KIN_ONE} {_KIN_MANY}")

PET: Final = any_of(
    "dogs? pupp(?:y|ies) pups? cats? kittens? kitt(?:y|ies) greyhounds? labradors? poodles? dachshunds? terriers? spaniels? collies? beagles? "
    "huskys? husk(?:y|ies) corgis? pugs? bulldogs? whippets? retrievers? shepherds? labs? mutts? mongrels? hounds? lurchers? chihuahuas? "
    "schnauzers? setters? pointers? rottweilers? boxers? dalmatians? tabb(?:y|ies) siamese ragdolls? maine_coons? rabbits? bunn(?:y|ies) "
    "hamsters? guinea_pigs? gerbils? chinchillas? ferrets? rats? mice degus? hedgehogs? parrots? parakeets? budgies? budgerigars? "
    "cockatiels? cockatoos? canar(?:y|ies) finch(?:es)? lovebirds? macaws? pigeons? tortoises? turtles? terrapins? snakes? corn_snakes? "
    "pythons? geckos? lizards? bearded_dragons? iguanas? chameleons? goldfish koi axolotls? tarantulas? stick_insects? snails? hens? "
    "chickens? ducks? geese goats? sheep alpacas? llamas? pon(?:y|ies) horses? donkeys? mules? mares? geldings? pigs? piglets? cows? "
    "foxhounds? newts? frogs? crickets? hermit_crabs?"
)

_THINGS = (
    # what one rides or drives
    "cars? vans? trucks? pickups? lorr(?:y|ies) motorbikes? motorcycles? mopeds? scooters? e-scooters? e-bikes? bikes? bicycles? tricycles? "
    "tandems? unicycles? hatchbacks? saloons? sedans? suvs? jeeps? minivans? minibus(?:es)? campervans? campers? motorhomes? caravans? "
    "trailers? tractors? convertibles? estates? hybrids? boats? dingh(?:y|ies) canoes? kayaks? sailboats? sailing_boats? rowing_boats? yachts? "
    "narrowboats? houseboats? paddleboards? surfboards? skateboards? longboards? snowboards? skis? sledges? sleds? wheelchairs? roller_skates? "
    # instruments
    "pianos? keyboards? organs? harpsichords? guitars? bass(?:es)? double_bass ukuleles? banjos? mandolins? violins? fiddles? violas? cellos? "
    "harps? flutes? piccolos? clarinets? oboes? bassoons? saxophones? trumpets? trombones? tubas? horns? bugles? accordions? concertinas? "
    "harmonicas? bagpipes? drums? drum_kits? drum_sets? synths? synthesi[sz]ers? recorders? xylophones? metronomes? amps? amplifiers? "
    # machines and devices
    "cameras? lenses lens tripods? camcorders? projectors? telescopes? binoculars microscopes? typewriters? record_players? turntables? "
    "gramophones? jukebox(?:es)? radios? tvs? televisions? speakers? headphones earbuds laptops? macbooks? chromebooks? computers? pcs? desktops? "
    "monitors? tablets? ipads? e-readers? kindles? phones? smartphones? iphones? smartwatch(?:es)? watch(?:es)? printers? scanners? routers? "
    "servers? drones? consoles? playstations? xbox(?:es)? game_boys? raspberry_pis? nas sewing_machines? knitting_machines? looms? "
    "spinning_wheels? overlockers? sergers? lathes? bandsaws? table_saws? chainsaws? jigsaws? saws? drills? routers? workbench(?:es)? anvils? "
    "forges? kilns? potter's_wheels? wheels? welders? soldering_irons? lawnmowers? mowers? strimmers? leaf_blowers? generators? "
    "pressure_washers? compressors? wheelbarrows? ladders? tool_?box(?:es)? tool_kits? printing_press(?:es)? press(?:es)? "
    # kitchen and house
    "ovens? pizza_ovens? stoves? cookers? hobs? microwaves? air_fryers? slow_cookers? pressure_cookers? rice_cookers? instant_pots? blenders? "
    "food_processors? mixers? stand_mixers? juicers? toasters? kettles? espresso_machines? coffee_machines? coffee_makers? coffee_grinders? "
    "moka_pots? teapots? french_press(?:es)? waffle_irons? waffle_makers? ice_cream_makers? bread_machines? bread_makers? pasta_machines? "
    "dehydrators? smokers? barbecues? grills? bbqs? woks? cast_iron_pans? skillets? pans? dutch_ovens? casseroles? knives knife fridges? "
    "freezers? dishwashers? washing_machines? tumble_dryers? dryers? vacuums? vacuum_cleaners? robot_vacuums? dehumidifiers? humidifiers? "
    "air_conditioners? heat_pumps? fireplaces? wood_stoves? wood_burners? log_burners? boilers? solar_panels? sofas? armchairs? rocking_chairs? "
    "beds? bunk_beds? mattress(?:es)? wardrobes? bookcases? bookshel(?:f|ves) desks? standing_desks? chests? dressers? sideboards? clocks? "
    "grandfather_clocks? cuckoo_clocks? chandeliers? lamps? mirrors? rugs? carpets? aquariums? terrariums? hot_tubs? saunas? trampolines? "
    "treadmills? rowing_machines? exercise_bikes? dumbbells kettlebells? punchbags? pool_tables? pinball_machines? chess_sets? dartboards? "
    # outdoors, buildings, collections
    "gardens? allotments? greenhouses? sheds? garages? balcon(?:y|ies) orchards? vegetable_patch(?:es)? ponds? pools? beehives? hives? compost_heaps? "
    "compost_bins? cabins? cottages? barns? beach_huts? chalets? timeshares? tents? rucksacks? backpacks? sleeping_bags? tree_?houses? "
    "vineyards? fields? plots? rods? fishing_rods? bows? crossbows? swords? rifles? tennis_rackets? rackets? golf_clubs? skates climbing_shoes "
    "bonsais? cactus(?:es)? cacti orchids? monsteras? houseplants? lemon_trees? fig_trees? apple_trees? olive_trees? rose_bush(?:es)? "
    "sourdough_starters? stamp_collections? collections? coin_collections? records? vinyl_collections? comic_collections? train_sets? "
    "model_railways? model_trains? dolls'?_?houses? rings? bracelets? necklaces? brooch(?:es)? leather_jackets? tuxedos? kilts? kimonos? "
    "wedding_dress(?:es)? fountain_pens? globes? umbrellas? suitcases? safes? paintings? easels? sculptures? tattoos? prams? pushchairs? strollers? "
    "hearing_aids? pacemakers? dentures"
)
THING: Final = any_of(_THINGS)
#: Vehicles.
VEHICLE: Final = any_of(_THINGS[: _THINGS.index("boats?")])

_TRADES = (
    "nurse doctor gp vet surgeon chef cook waiter waitress baker butcher pilot clerk judge lawyer solicitor attorney plumber electrician "
    "carpenter joiner mason roofer tailor seamstress cobbler blacksmith locksmith goldsmith silversmith mechanic student pupil apprentice "
    "intern postman postwoman fireman policeman policewoman milkman midwife paramedic medic therapist pharmacist dentist optician "
    "radiographer scientist engineer programmer coder developer architect accountant actuary auditor consultant analyst assistant "
    "receptionist secretary administrator teacher professor tutor lecturer coach instructor trainer au_pair nanny childminder housewife "
    "househusband homemaker librarian archivist curator historian musician composer guitarist violinist cellist pianist conductor singer "
    "soprano tenor dancer actor actress comedian magician journalist reporter editor author novelist poet playwright screenwriter "
    "copywriter translator interpreter proofreader illustrator painter sculptor potter ceramicist photographer videographer animator "
    "designer florist gardener landscaper arborist beekeeper farmer shepherd fisherman forester ranger zookeeper groom jockey farrier miner "
    "geologist biologist chemist physicist mathematician statistician economist linguist sociologist psychologist psychiatrist counsellor "
    "counselor priest vicar pastor imam rabbi monk nun soldier sailor officer captain skipper lifeguard diver courier cabbie chauffeur "
    "driver conductor stewardess steward flight_attendant barista bartender barman barmaid sommelier brewer distiller cheesemonger "
    "fishmonger greengrocer grocer shopkeeper cashier salesman saleswoman salesperson merchandiser realtor estate_agent broker banker "
    "trader underwriter bookkeeper hairdresser barber beautician masseuse masseur tattooist tattoo_artist model stylist cleaner janitor "
    "caretaker housekeeper concierge porter bouncer security_guard guard bricklayer plasterer welder machinist fitter technician scaffolder "
    "surveyor decorator upholsterer glazier glassblower watchmaker luthier bookbinder printer weaver typesetter civil_servant social_worker "
    "care_worker aid_worker youth_worker postdoc researcher astronomer meteorologist hydrologist undertaker mortician referee umpire "
    "freelancer entrepreneur founder manager director supervisor foreman ceo cto cfo project_manager product_manager sysadmin data_scientist "
    "bus_driver tram_driver train_driver taxi_driver tour_guide guide usher busker blogger podcaster streamer tester roadie stuntman "
    "stuntwoman puppeteer clown acrobat ballerina lumberjack trucker stonemason signwriter tiler handyman binman dustman key_worker "
    "speech_therapist physio physiotherapist osteopath chiropractor dietitian dietician nutritionist audiologist cardiologist "
    "dermatologist pathologist paralegal notary bailiff detective inspector diplomat politician councillor mayor lobbyist stockbroker "
    "pensioner retiree teaching_assistant"
)
TRADE: Final = any_of(_TRADES)
#: Endings of names of occupations; then words with such an ending that are not occupations.
TRADE_ENDING: Final = (
    r"(?!(?:<NO_TRADE>)\b)[a-z-]{2,18}(?:ologist|ographer|ographist|wright|smith|monger|maker|keeper|therapist|technician"
    r"|grapher|ician|arian|[dgklmnrtvzpc]er|[ts]or|ist|eer|woman|herder)\b"
)
NO_TRADE: Final = any_of(
    "beginner newcomer member mother father brother sister daughter grandmother grandfather sucker believer lover hater winner loser user "
    "customer stranger foreigner prisoner dreamer drinker eater sleeper smoker sinner owner number bother hugger order reader walker "
    "jogger swimmer hiker climber camper gamer player beer bear dear year over under after later newer older former quarter character "
    "matter letter river monster gangster hipster youngster teetotaller teetotaler vegetarian humanitarian libertarian keeper "
    "optimist pessimist perfectionist minimalist feminist realist tourist cyclist purist idealist atheist nihilist narcissist racist sexist "
    "ancestor traitor impostor imposter visitor spectator minor senior junior survivor sponsor starter finisher planner overthinker thinker "
    "learner riser homeowner renter tenant voter hoarder procrastinator worrier pleaser whiner complainer talker listener killer joker poker "
    "volunteer pioneer queer career stickler tinkerer holder sitter quitter latecomer leftover rower fencer runner buyer seller bidder "
    "surfer skier boxer wrestler bowler golfer skater boulderer knitter collector contributor creator debtor donor partner wiper "
    "teenager toddler goner outsider insider loner burner cracker charmer sniffer snorer stutterer left-hander right-hander passenger "
    "commuter adult master computer tiger spider badger panther dinosaur rookie saver spender shopper ranter lurker subscriber follower "
    "supporter backer christian agnostic barbarian civilian guardian comforter sister-in-law brother-in-law godmother godfather stepmother "
    "stepfather dog-owner pet-owner cat-lover early-riser troublemaker matchmaker peacemaker timekeeper goalkeeper gatekeeper sweater "
    "butter water buster mister centenarian octogenarian septuagenarian nonagenarian contrarian disciplinarian pescatarian flexitarian "
    "fruitarian wanderer adventurer hard-liner fighter hunter-gatherer rambler birdwatcher stargazer daydreamer crammer slacker skimmer "
    "list speaker disaster mobster ghost sweetheart chancer blunderer bungler bookworm caller asker browser lodger widower"
)
BUSINESS: Final = any_of(
    "baker(?:y|ies) shops? stores? caf[eé]s? coffee_shops? restaurants? bars? pubs? food_trucks? food_stalls? stalls? kiosks? compan(?:y|ies) "
    "business(?:es)? firms? startups? start-ups? agenc(?:y|ies) studios? practices? clinics? farms? vineyards? hotels? hostels? "
    "guest_?houses? b&bs? bed_and_breakfasts? bookshops? bookstores? galler(?:y|ies) theatres? theaters? cinemas? gyms? salons? barbershops? "
    "workshops? garages? brewer(?:y|ies) distiller(?:y|ies) schools? nurser(?:y|ies) kindergartens? playgroups? choirs? orchestras? charit(?:y|ies) "
    "ngos? websites? newsletters? podcasts? laundromats? launderettes? laundr(?:y|ies) florists? campsites? ferr(?:y|ies) stables kennels? "
    "catter(?:y|ies) launderettes? printworks print_shops? greengrocers? butcher'?s? delis? ateliers? consultanc(?:y|ies) warehouses? "
    "departments? teams? labs? librar(?:y|ies) museums? delivery_services? taxi_services? services? dairy dairies mills? pharmac(?:y|ies) chip_shops?"
)
DWELLING: Final = any_of(
    "flat apartment house cottage village town city suburbs? farm farmhouse bungalow studio loft houseboat narrowboat boat barge caravan "
    "campervan motorhome dorm dormitory basement attic countryside mountains? coast island street terrace tower_block high-rise valley hamlet "
    "commune monastery convent cabin chalet townhouse terraced_house semi penthouse duplex condo condominium bedsit maisonette "
    "student_halls? hills? forest woods desert seaside outskirts floor estate lighthouse yurt mobile_home trailer tiny_house co-op "
    "retirement_home care_home sticks peninsula port fishing_village new_build shared_house houseshare flatshare cul-de-sac region district "
    "neighbou?rhood old_town city_cent(?:re|er) town_cent(?:re|er) north south east west tropics highlands lowlands lake river mill manse vicarage sea beach canal"
)
DIET: Final = any_of(
    "vegan vegetarian veggie pescatarian pescetarian flexitarian fruitarian macrobiotic lacto-vegetarian ovo-vegetarian plant-based halal "
    "kosher gluten-free dairy-free sugar-free lactose-free grain-free nut-free low-carb low_carb keto ketogenic paleo low-salt low-sodium "
    "low-fat low-fodmap low_fodmap fodmap low-sugar low-fibre low-fiber high-protein high-fibre high-fiber mediterranean carnivore whole30 dash "
    "raw_food raw_vegan vegetarian_and_gluten-free teetotal teetotaller teetotaler anti-inflammatory whole-food whole-foods "
    "jain sattvic omnivore wheat-free egg-free soy-free meat-free alcohol-free"
)
#: Foods for which "can't eat" means an allergy, not a diet.
ALLERGEN: Final = any_of(
    "nuts? peanuts? tree_nuts? walnuts? almonds? cashews? hazelnuts? pecans? pistachios? gluten wheat lactose dairy milk eggs? soya? shellfish prawns? "
    "shrimps? crab lobster mussels? fish sesame mustard celery lupin sulphites? sulfites? strawberr(?:y|ies) kiwis? fructose histamine"
)
LANGUAGE_NAME: Final = any_of(
    "english french german spanish italian portuguese dutch swedish norwegian danish finnish icelandic polish czech slovak hungarian romanian "
    "bulgarian serbian croatian bosnian slovene slovenian macedonian albanian greek turkish russian ukrainian belarusian lithuanian latvian "
    "estonian irish welsh gaelic breton basque catalan galician arabic hebrew persian farsi dari pashto urdu hindi punjabi bengali gujarati "
    "marathi tamil telugu kannada malayalam sinhala nepali tibetan burmese thai lao khmer vietnamese malay indonesian javanese tagalog filipino "
    "mandarin cantonese chinese japanese korean mongolian kazakh uzbek georgian armenian azerbaijani swahili amharic somali hausa yoruba igbo "
    "zulu xhosa afrikaans esperanto latin quechua guarani maori hawaiian samoan yiddish luxembourgish maltese sign_language american_sign_language british_sign_language "
    "asl bsl braille kurdish tigrinya wolof twi shona lingala creole romansh sami scots flemish low_german swiss_german"
)
NATION: Final = any_of(
    "english british scottish welsh irish american canadian australian french german spanish italian portuguese dutch belgian swiss austrian "
    "swedish norwegian danish finnish icelandic polish czech slovak hungarian romanian bulgarian serbian croatian bosnian slovenian albanian "
    "greek turkish russian ukrainian lithuanian latvian estonian arab israeli jewish iranian persian iraqi syrian lebanese egyptian moroccan "
    "tunisian algerian pakistani indian bengali bangladeshi nepali thai vietnamese malaysian indonesian filipino filipina chinese japanese "
    "korean taiwanese mongolian georgian armenian kenyan ethiopian somali nigerian ghanaian senegalese ugandan tanzanian brazilian mexican "
    "argentinian chilean peruvian colombian venezuelan cuban jamaican european african asian latino latina hispanic catholic protestant "
    "christian muslim hindu buddhist sikh lutheran orthodox quaker mormon welshman scotsman irishman londoner new_yorker parisian berliner"
)
