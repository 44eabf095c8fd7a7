"""Some of the most frequent function words of the languages that have a Snowball stemmer."""

FUNCTION_WORDS = {
    "arabic": "في من على إلى أن عن التي الذي هذا هذه مع كان ما لا هو هي بين كما قد ذلك لم و أو كل بعد",
    "armenian": "և է են որ մեջ համար այս այդ իր նաև եմ կամ էր մի ու հետ չի բայց որոնք էին",
    "basque": (
        "eta da du bat dira ere izan dute baina zen edo dela hori baino bere egin beste hau dituzte"
    ),
    "catalan": (
        "de la el i que els les en del per un una amb és al dels no com són més van aquest ha ser "
        "seva també"
    ),
    "czech": (
        "a v na je se že s z do o to i jsou za pro by který ve jako která podle nebo ale po byl bylo ze si"
    ),
    "danish": (
        "og i at det en den til er som på de med af for ikke der var et har han om ud fra ved blev også kan"
    ),
    "dutch": (
        "de van het een en in is dat op te zijn met voor niet aan er om door ook als bij wordt naar "
        "deze uit of"
    ),
    "english": (
        "the of and to in a is that for it as was with be by on not he his but at are this have from "
        "or an which their its has were been will can how into"
    ),
    "esperanto": (
        "la de kaj en estas al kiu por ne ke kun ĝi oni estis ankaŭ pri el ili kiel sed da kiuj tiu li"
    ),
    "estonian": (
        "ja on ei et ka see oli kui aga mis ta oma või kes ning selle nii siis välja mida pole need üle"
    ),
    "finnish": (
        "ja on ei että se oli mutta myös kun hän ovat tai joka sekä niin kuin ole jossa mukaan jotka "
        "sen siitä hänen tämä vain voi"
    ),
    "french": (
        "de la le et les des en un une du que est pour dans qui par sur au pas plus ce ne avec il son "
        "se aux sont ses cette ou nous"
    ),
    "german": (
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an "
        "werden aus er hat dass sie nach wird bei einer um sind noch wie einem über einen zum zur"
    ),
    "greek": (
        "και το να του η της με που την από για τα είναι τον των σε ο οι στο θα τη δεν στην μια στη "
        "αυτό ότι τις ένα"
    ),
    "hindi": "के में है की और से का को पर यह एक नहीं ने हैं कि भी इस लिए था कर ही हो वह या थे",
    "hungarian": (
        "a az és hogy nem is egy de ez volt meg csak mint már azt el ki még ha vagy van amely ezt "
        "után lehet"
    ),
    "indonesian": (
        "yang dan di dengan untuk dari ini dalam pada tidak itu adalah akan oleh ke sebagai juga "
        "dapat ada atau telah mereka karena bahwa saya"
    ),
    "irish": "an agus na a i ar is bhí go le do ag sé tá ach nach seo leis mar faoi as bhfuil ó chun sin",
    "italian": (
        "di e il la che in un è per del una con non della dei i le da si al delle sono nel alla anche "
        "gli come più ma dal su lo"
    ),
    "lithuanian": (
        "ir yra kad su į iš tai bet kaip jis apie buvo ar o už dėl nuo per tik taip jo ne kurie po prie"
    ),
    "nepali": "र छ को मा गर्न पनि हो भएको यो एक लागि गरेको थियो छन् तथा भन्ने तर हुन्छ नेपाल बाट",
    "norwegian": (
        "og i det er på til som en for at med av de ikke den har et om var han men seg fra ble vi jeg "
        "også kan etter skal hun eller ved"
    ),
    "persian": "و در به از که این را با است برای آن یک خود تا بر هم نیز ها می بود شد شده کرد ای باید",
    "polish": (
        "w i na z się do nie że jest to o od jak po za przez co dla są był oraz ale tym ze które czy "
        "tego by"
    ),
    "portuguese": (
        "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao das foi ou "
        "são também pelo pela"
    ),
    "romanian": (
        "de și în a la cu pe o din care nu un mai se este fi au sa prin ca pentru sunt ce fost lui "
        "sau şi dar"
    ),
    "russian": (
        "и в не на что с по как это из у к за от о но для его был так было она он бы или а также при все их"
    ),
    "serbian": (
        "i je u da se na su za od sa kao što koji ili bi ali će nije koje iz po и је у да се на су за "
        "од са као што који или би али ће није које из по"
    ),
    "sesotho": "le ho ba ka ya ke e se mme hore tsa wa hae ha bona o di empa bo mo",
    "spanish": (
        "de la que el en y los del las por un con no una para su es al lo como más pero sus se o fue "
        "este ha son entre también sobre ser"
    ),
    "swedish": (
        "och i att det som en på är av för med den till inte har de ett om var han men från sig så "
        "kan när vi ut där eller också hon"
    ),
    "tamil": ("ஒரு என்று மற்றும் இந்த என அது என்ற இது அவர் உள்ள தான் போன்ற வேண்டும் பல இருந்து கொண்டு மூலம் அந்த"),
    "turkish": (
        "ve bir bu için ile da de olarak olan daha gibi çok en sonra kadar ne ama ise olduğu her "
        "değil o tarafından ya mi"
    ),
    "yiddish": "און די פון איז אין דער אַז צו דאָס מיט ניט האָט אויף ער זיך װאָס וואס פֿון א אַ",
}
