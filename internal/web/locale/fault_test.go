package locale_test

import (
	"go/ast"
	"regexp"
	"slices"
	"testing"

	"cloudburst/internal/web/locale"
)

// technical matches errors that stay English: those of interfaces for programs and of settings.
var technical = regexp.MustCompile(`^%s\.?$|^The (key|guid|limit|target) |: use |by their IDs|shown at once|one of %s|Content-Type|state of an imported|only stores|CNWS hub|digest is|number of a post|not a theme`)

// Forms show the errors that name a mistake of their user, or a limit.
func TestErrorsOfFormsAreTranslated(t *testing.T) {
	t.Parallel()
	have, seen := entries(t, "de"), 0
	pages := []string{"web/accountui", "web/authorui", "web/filterui", "web/forwardui", "web/peopleui", "web/readerui", "web/writerui"}
	for _, name := range append(pages, domains...) {
		eachFile(t, "../../"+name+"/*.go", func(n ast.Node, at string) {
			text := formError(n)
			if text == "" || technical.MatchString(text) {
				return
			}
			if seen++; have[text] == nil {
				t.Errorf("internal/web/locale/de has no text for %q (%s)", text, at)
			}
		})
	}
	if seen < 100 {
		t.Errorf("the test found %d errors only", seen)
	}
}

// formError returns the text of a call of package fault, or of a function for errors of fields and limits, for
// an error that a form shows.
func formError(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	if name, ok := call.Fun.(*ast.Ident); ok {
		if at, ok := map[string]int{"badURL": 0, "fieldErr": 1, "tooMany": 1}[name.Name]; ok && at < len(call.Args) {
			text, _ := constant(call.Args[at])
			return text
		}
	}
	if len(call.Args) < 2 {
		return ""
	}
	f, _ := call.Fun.(*ast.SelectorExpr)
	code, _ := call.Args[0].(*ast.SelectorExpr)
	if f == nil || code == nil || !slices.Contains([]string{"Invalid", "Conflict", "TooMany"}, code.Sel.Name) {
		return ""
	}
	if pkg, _ := f.X.(*ast.Ident); pkg == nil || pkg.Name != "fault" {
		return ""
	}
	for _, arg := range call.Args[1:] {
		if text, ok := constant(arg); ok {
			return text
		}
	}
	return ""
}

func TestErrorsWithValuesAreTranslated(t *testing.T) {
	t.Parallel()
	de := locale.Find("de")
	for text, want := range map[string]string{
		"The user name and the password do not belong together.":                                                             "Benutzername und Passwort passen nicht zusammen.",
		"The password is too short: it must have at least 8 characters.":                                                     "Das Passwort ist zu kurz: Es muss mindestens 8 Zeichen haben.",
		"There were too many failed attempts. Try again in 50 seconds.":                                                      "Zu viele Fehlversuche. In 50 Sekunden erneut versuchen.",
		"There were too many failed attempts. Try again in 12 minutes.":                                                      "Zu viele Fehlversuche. In 12 Minuten erneut versuchen.",
		"“keine url” is not an address: it should be like https://example.org/feed or example.org.":                          "„keine url“ ist keine Adresse: Sie sollte wie https://example.org/feed oder example.org aussehen.",
		"is:foo is unknown: use is:starred, is:unread or is:read.":                                                           "is:foo ist unbekannt: Möglich sind is:starred, is:unread und is:read.",
		`"a b" cannot be your domain: write only its name, such as blog.example.org.`:                                        `"a b" kann nicht Ihre Domain sein: nur den Namen angeben, etwa blog.example.org.`,
		"The list has more than 20 MiB. Try again in 10 s.":                                                                  "Die Liste hat mehr als 20 MiB. In 10 s erneut versuchen.",
		"Something new. Try again in 1 min.":                                                                                 "Something new. In 1 Min. erneut versuchen.",
		"Its hubs announced 9 of 10 changes (90 %): changes arrive by push, and it is polled once a day as a safety net.":    "Seine Hubs haben 9 von 10 Änderungen angekündigt (90 %): Änderungen kommen per Push, und zur Sicherheit wird er einmal am Tag abgefragt.",
		"It could not be read since 2 January 2026 15:04 UTC, 3 times in a row: its server took too long.":                   "Er ist seit 2 January 2026 15:04 UTC nicht lesbar, 3-mal nacheinander: der Server hat zu lange gebraucht.",
		"No catalogue has this: 3 days.":                                                                                     "No catalogue has this: 3 days.",
		"Notified 1,204 subscribers in 6.7 ms; 1 could not be notified and will be tried again; 2 subscriptions have ended.": "Zugestellt an 1.204 Abonnenten in 6,7 ms; 1 nicht erreicht, der Hub versucht es erneut; 2 Abonnements sind beendet.",
		"Not modified, says its server. Not changed since 20:11:39 on 2 March (version 3).":                                  "Nicht geändert, meldet der Server. Nicht geändert seit 20:11:39 Uhr am 2. März (Version 3).",
		"Not registered: The feed http://a.example/ could not be read: its server answered 404 Not Found.":                   "Nicht registriert: Der Feed http://a.example/ war nicht lesbar: Der Server hat 404 Not Found geantwortet.",
		"The challenge failed. The callback sent no valid response. The callback answered 500 Internal Server Error.":        "Die Challenge ist fehlgeschlagen. Der Callback hat keine gültige Antwort gesendet. Der Callback hat 500 Internal Server Error geantwortet.",
		`The callback has the host "-", which is not a name that can be looked up.`:                                          `Der Callback hat den Host "-", der kein Name ist, der sich nachschlagen lässt.`,
		"Too many pings from your network; please wait 1m30s and ping again.":                                                "Zu viele Pings aus Ihrem Netz; bitte 1 Min. 30 s warten und erneut einen Ping senden.",
		"The form cannot be read: write % as %25, & between fields and ; as %3B.":                                            "Das Formular ist nicht lesbar: Bitte % als %25 schreiben, & zwischen Feldern und ; als %3B.",
		"hub.example.org (websub): The hub denied the subscription and gave no reason.":                                      "hub.example.org (websub): Der Hub hat das Abonnement ohne Grund abgelehnt.",
		"The file is larger than 1.5 GiB, which is the limit; nothing was stored.":                                           "Die Datei ist größer als 1,5 GiB, die Grenze; nichts wurde gespeichert.",
		"http://127.0.0.1:1/ names port 1, which belongs to another service than the web.":                                   "http://127.0.0.1:1/ nennt den Port 1, der zu einem anderen Dienst als dem Web gehört.",
		"1000 Words does not send posts by e-mail.":                                                                          "1000 Words versendet keine Beiträge per E-Mail.",
		"": "",
	} {
		if got := de.Fault(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if got := locale.English().Fault(text); got != text {
			t.Errorf("in English, %q is %q", text, got)
		}
	}
}

// The log and the page of administrators show the sentences of these packages.
func TestSentencesOfTheLogAreTranslated(t *testing.T) {
	t.Parallel()
	have := entries(t, "de")
	sentence := regexp.MustCompile(`^[A-Z%][^\n]* [^\n]*\.$`)
	for _, name := range []string{"announce", "checkup", "hub", "publish", "upstream"} {
		eachFile(t, "../../"+name+"/*.go", func(n ast.Node, at string) {
			if s, ok := constant(n); ok && sentence.MatchString(s) && have[s] == nil {
				t.Errorf("internal/web/locale/de has no text for %q (%s)", s, at)
			}
		})
	}
}
