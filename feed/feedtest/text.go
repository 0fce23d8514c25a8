package feedtest

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// language is a natural language of documents.
type language struct {
	tag    string
	latin1 bool // ISO-8859-1 contains all letters of the language
	solid  bool // the language is written without spaces
	words  []string
}

func languages() []language {
	return []language{
		{"en", true, false, strings.Fields("the a of and to in is on that by this with you it not or be are from at as your all have new more was we will can about if page my has search free but our one other do no information time they site up may what which their news out use any there see only so his when here who web also now help get view am been would how were me some these click its like service than find price date back top people had list name just over state year day into two health world next used go work last most music buy data make them should product system post her city add policy number such please available copyright support message after best software then good well where info right public high school through each order very privacy book item company read group need many user said does set under general research university full map review program life know games way day")},
		{"de", true, false, strings.Fields("der die das und in zu den ist nicht von mit sich auf für eine im dem auch an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde sei Prozent hatte kann gegen vom können schon wenn habe seine Mark ihre dann unter wir soll ich eines Jahr zwei Jahren diese dieser wieder keine Uhr seiner worden will zwischen immer Millionen was sagte größer Straße Mädchen Bücher heißt später fährt möglich während Gebäude Österreich")},
		{"fr", true, false, strings.Fields("de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce il sont avec ils ou son lui nous comme mais on vous tout être fait cette sa aussi leur bien peut ces deux sans même temps dont autres années très où entre encore après été première siècle français général élèves façon problème société région près déjà fenêtre garçon forêt noël maïs")},
		{"es", true, false, strings.Fields("de la que el en y a los del se las por un para con no una su al lo como más pero sus le ya o este sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos uno les ni contra otros ese eso ante ellos año niño señor después mañana país corazón canción días tiempo gobierno ciudad música económico público España")},
		{"pl", false, false, strings.Fields("się nie na jest do to że w z i o jak ale po co tak za od jego już czy przez tylko był dla było być może ich ten jeszcze ją są mnie gdy który które została między świat człowiek życie książka miasto dzień rok ludzie część łódź źródło ćwiczenie późno więcej święta żółty")},
		{"ru", false, false, strings.Fields("и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой от так о для ты же все год мочь человек такой его сказать только или еще себя один как уже до время если сам когда другой вот говорить наш мой знать стать при чтобы дело жизнь кто первый очень два день ее новый рука даже во со раз где там под можно ну какой после работа без самый потом надо хотеть ли слово идти большой должен место город страна новости")},
		{"el", false, false, strings.Fields("και το να του η της με που την από για τα είναι των σε ο οι στο θα τη στην τον τους δεν τις ένα μια ότι ή στα αυτό όπως έχει μας στη μετά σας κατά πολύ χρόνια κόσμος πόλη ημέρα νέα ζωή άνθρωπος βιβλίο μουσική σήμερα χώρα δρόμος")},
		{"ja", false, true, strings.Fields("これは その 記事 の 新しい ニュース です 今日 東京 で 会議 が 開かれ ました 写真 を 見る こと が できます 情報 技術 について 読者 から の 質問 に 答え 音楽 と 映画 の 話題 も 多い 天気 は 晴れ 明日 へ 続く ブログ 更新 しました 詳しく こちら")},
		{"zh", false, true, strings.Fields("我们 今天 的 新闻 报道 了 一个 新 的 计划 城市 发展 很 快 人们 在 公园 里 看 音乐 会 技术 公司 发布 软件 更新 请 阅读 全文 这 是 关于 历史 和 文化 的 文章 天气 变化 学生 学习 书籍 世界 经济 增长 照片")},
		{"ar", false, false, strings.Fields("في من على إلى أن هذا عن مع كان التي الذي بعد قبل كل يوم جديد مدينة العالم الناس كتاب خبر صورة حياة وقت عمل دولة سنة قال بين أخبار علم موسيقى طريق بيت كبير")},
		{"hi", false, false, strings.Fields("के में है की और से का को पर यह हैं ने कि लिए एक भी नहीं कर तो ही इस हो था साथ जो समाचार आज नया शहर लोग समय किताब देश काम जीवन संगीत दुनिया साल बहुत अपने")},
	}
}

// sentence returns words with a full stop.
func (w *writer) sentence(words int) string {
	var b strings.Builder
	w.addSentence(&b, words, false)
	return b.String()
}

// addSentence writes a sentence. If it is HTML, the sentence contains links and emphasis.
func (w *writer) addSentence(b *strings.Builder, words int, html bool) {
	for i := range words {
		word := pick(w, w.lang.words)
		switch {
		case i == 0:
			r, n := utf8.DecodeRuneInString(word)
			b.WriteRune(unicode.ToUpper(r))
			word = word[n:]
		case w.lang.solid:
		case w.chance(8):
			b.WriteString(", ")
		default:
			b.WriteByte(' ')
		}
		if !html || !w.chance(6) {
			b.WriteString(word)
			continue
		}
		w.addInline(b, word)
	}
	if w.lang.solid {
		b.WriteString("。")
		return
	}
	b.WriteString(pick(w, []string{".", ".", ".", ".", "!", "?"}))
}

// addInline writes a word with some markup.
func (w *writer) addInline(b *strings.Builder, word string) {
	switch n := w.rnd.IntN(20); {
	case n < 8:
		fmt.Fprintf(b, `<a href="%s">%s</a>`, w.anyURL(), word)
	case n < 10:
		fmt.Fprintf(b, `<a href="%s" target="_blank" rel="noopener nofollow">%s</a>`, w.anyURL(), word)
	case n < 13:
		fmt.Fprintf(b, `<strong>%s</strong>`, word)
	case n < 16:
		fmt.Fprintf(b, `<em>%s</em>`, word)
	case n == 16:
		fmt.Fprintf(b, `<span style="font-size: small;">%s</span>`, word)
	default:
		b.WriteString(word)
		b.WriteString(w.entity())
	}
}

// entity returns a character that HTML authors write as a reference.
func (w *writer) entity() string {
	if w.xhtml {
		return pick(w, []string{"&#160;", "&#8217;s", "&amp;", "&#8230;", "&lt;"})
	}
	return pick(w, []string{"&nbsp;", "&#8217;s", "&amp;", "&hellip;", "&rsquo;", "&#8220;", "&eacute;"})
}

// anyURL returns a URL for HTML, with escaped ampersands. A few of these URLs are relative.
func (w *writer) anyURL() string {
	switch n := w.rnd.IntN(100); {
	case n < 2:
		return "/tag/" + w.slug()
	case n < 4:
		return "../" + w.slug() + ".html"
	case n < 30:
		return fmt.Sprintf("https://%s.example/?p=%d&amp;utm_source=feed", pick(w, w.english), w.rnd.IntN(9999))
	}
	return fmt.Sprintf("https://www.%s.example/%s/%s/", pick(w, w.english), w.slug(), w.slug())
}

// html returns the body of a post.
func (w *writer) html() string {
	var b strings.Builder
	for range 1 + w.rnd.IntN(2*w.long) {
		switch n := w.rnd.IntN(100); {
		case n < 70:
			w.addBlock(&b, "p", 2+w.rnd.IntN(6))
		case n < 80:
			w.addImage(&b)
		case n < 86:
			b.WriteString("<ul>\n")
			for range 2 + w.rnd.IntN(5) {
				w.addBlock(&b, "li", 1)
			}
			b.WriteString("</ul>\n")
		case n < 91:
			b.WriteString("<h2>" + w.sentence(3+w.rnd.IntN(4)) + "</h2>\n")
		case n < 95:
			b.WriteString("<blockquote>\n")
			w.addBlock(&b, "p", 2)
			b.WriteString("</blockquote>\n")
		case n < 97:
			fmt.Fprintf(&b, "<pre><code class=\"language-go\">if n &lt; %d &amp;&amp; ok {\n\treturn n\n}</code></pre>\n", w.rnd.IntN(99))
		default:
			fmt.Fprintf(&b, "<p>%s<br />\n%s</p>\n", w.sentence(8), w.sentence(8))
		}
	}
	return b.String()
}

func (w *writer) addBlock(b *strings.Builder, tag string, sentences int) {
	b.WriteString("<" + tag + ">")
	for i := range sentences {
		if i > 0 && !w.lang.solid {
			b.WriteByte(' ')
		}
		w.addSentence(b, 5+w.rnd.IntN(18), true)
	}
	b.WriteString("</" + tag + ">\n")
}

func (w *writer) addImage(b *strings.Builder) {
	src := fmt.Sprintf("%s/files/%d/%s.jpg", w.site, w.now.Year(), w.slug())
	if w.chance(5) {
		src = "images/" + w.slug() + ".png"
	}
	fmt.Fprintf(b, "<p><a href=\"%s\"><img class=\"alignnone size-medium\" src=\"%s\" alt=\"%s\" width=\"%d\" height=\"%d\" /></a></p>\n",
		w.anyURL(), src, w.sentence(3), 200+w.rnd.IntN(900), 200+w.rnd.IntN(700))
}

// name returns the name of a person.
func (w *writer) name() string {
	first := pick(w, []string{"Anna", "Björn", "Chloé", "David", "Elena", "Farid", "Grace", "Hiro", "Inés", "Jan", "Kwame", "Lena"})
	return first + " " + pick(w, []string{"Abel", "Brandt", "Costa", "Dubois", "Evans", "Fischer", "García", "Haas", "Ito", "Jansen", "Kowalska", "Lindqvist"})
}

// escape returns text escaped for XML.
func (w *writer) escape(text string) string {
	if w.quotes {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
