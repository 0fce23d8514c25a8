package date

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// dateRow is a text and its expected instant, "-" if the text is not a date.
type dateRow struct{ instant, text string }

func dateRows(t testing.TB) []dateRow {
	t.Helper()
	file, err := os.ReadFile("testdata/dates.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows []dateRow
	instant := ""
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSuffix(line, "\n")
		text, indented := strings.CutPrefix(line, "\t")
		switch {
		case indented:
			rows = append(rows, dateRow{instant, text})
		case line != "" && line[0] != '#':
			instant = line
		}
	}
	if len(rows) < 300 {
		t.Fatalf("testdata/dates.txt has %d dates only", len(rows))
	}
	return rows
}

// The expected instants are the results of feedparser 6 if feedparser can read the text, with these
// exceptions:
//   - feedparser reads a prefix of the text and drops the rest: the time of
//     "2026-11-19 10:14 PST" and of the basic format of ISO 8601, the month of
//     2026/11/19, the week of 2026-W47-4, the day of "2026 Nov 19" and of 2026-323
//     if its first two digits could be a month.
//   - It completes partial dates from the current date: 12:30, --11-19, -323. These
//     are not dates here.
//   - It treats unknown zones as UTC: CET, JST, IST, UTC+2, and those in parentheses.
//     It ignores the offset of "GMT +0200" and the minutes of +0130 in W3CDTF.
//   - It ignores AM and PM except in Korean, where it reads 12 PM as 24 o'clock.
//   - It reads 93-12-31 as 2093, 1 Jan 104 (years counted from 1900) as the year 104,
//     and 20 as 1901.
//   - It reads 10:14.5 as 10:14:00 and drops fractions of seconds.
//   - It carries over months above 12, hours above 24 and zones above 24 hours.
func TestDatesAreParsedAsInFeedparser(t *testing.T) {
	t.Parallel()
	dates := 0
	for _, row := range dateRows(t) {
		got, ok := Parse(row.text)
		if row.instant == "-" {
			if ok {
				t.Errorf("%q is not a date, but parsed as %v", row.text, got)
			}
			if !got.IsZero() {
				t.Errorf("%q: a time without ok: %v", row.text, got)
			}
			continue
		}
		dates++
		want, err := time.Parse(time.RFC3339Nano, row.instant)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			t.Errorf("%q is not parsed, want %v", row.text, want)
		} else if !got.Equal(want) {
			t.Errorf("%q is %v, want %v", row.text, got, want)
		} else if got.Location() != time.UTC {
			t.Errorf("%q is in %v, want UTC", row.text, got.Location())
		}
	}
	if dates < 150 {
		t.Errorf("%d dates only", dates)
	}
}

func TestMonthNamesOfManyLanguagesAreParsed(t *testing.T) {
	t.Parallel()
	for language, months := range map[string]string{
		"English":    "January February March April May June July August September October November December",
		"German":     "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
		"French":     "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
		"Spanish":    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
		"Italian":    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
		"Portuguese": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
		"Dutch":      "januari februari maart april mei juni juli augustus september oktober november december",
		"Russian":    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
		"Polish":     "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
		"Czech":      "ledna února března dubna května června července srpna září října listopadu prosince",
		"Greek":      "Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου Ιουλίου Αυγούστου Σεπτεμβρίου Οκτωβρίου Νοεμβρίου Δεκεμβρίου",
		"Hungarian":  "január február március április május június július augusztus szeptember október november december",
		"Turkish":    "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
		"Swedish":    "januari februari mars april maj juni juli augusti september oktober november december",
		"Danish":     "januar februar marts april maj juni juli august september oktober november december",
		"Norwegian":  "januar februar mars april mai juni juli august september oktober november desember",
		"Finnish":    "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta",
		"Romanian":   "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
		"Slovak":     "januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra",
		"Catalan":    "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
		"Ukrainian":  "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
		"Bulgarian":  "януари февруари март април май юни юли август септември октомври ноември декември",
		"Hebrew":     "ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר",
		"Arabic":     "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
		"Indonesian": "Januari Februari Maret April Mei Juni Juli Agustus September Oktober November Desember",
		"short ones": "janv fév mrt kwi kvě cze júl ağu wrz říj lis dez",
	} {
		for i, name := range strings.Fields(months) {
			want := time.Date(2004, time.Month(i+1), 5, 0, 0, 0, 0, time.UTC)
			for _, text := range []string{"5 " + name + " 2004", "5 " + strings.ToUpper(name) + " 2004", "5. " + name + ". 2004", "2004-" + name + "-05"} {
				if got, ok := Parse(text); !ok || !got.Equal(want) {
					t.Errorf("%s: %q is %v %v, want %v", language, text, got, ok, want)
				}
			}
		}
	}
}

func TestWeekdaysInManyLanguagesAreIgnored(t *testing.T) {
	t.Parallel()
	want := time.Date(2004, time.April, 5, 10, 14, 0, 0, time.UTC)
	for day := range strings.FieldsSeq(`Monday Tue Tues Wednesday Thurs Friday Sat Sunday Montag Dienstag Mi Do Freitag Sa So
		lundi mar. mercredi jeu. vendredi sam. dimanche lunes martes miércoles jueves viernes sáb domingo
		lunedì martedì mercoledì giovedì venerdì sabato domenica segunda-feira terça-feira qua sexta-feira
		maandag di woensdag donderdag vr zaterdag zo понедельник вт среда четверг пт суббота воскресенье
		poniedziałek wtorek śro czwartek piątek sobota niedziela pondělí út středa čtvrtek pá neděle
		Δευτέρα Τρί Τετάρτη Πέμπτη Παρασκευή Σάβ Κυριακή hétfő kedd szerda csütörtök péntek szombat vasárnap
		Pazartesi Salı Çarşamba Perşembe Cuma Cumartesi Pazar måndag tisdag onsdag tors fredag lördag söndag
		mandag lørdag maanantaina tiistai keskiviikko to perjantai lauantaina su`) {
		for _, text := range []string{day + " 5 Apr 2004 10:14", day + ", Apr 5, 2004 10:14"} {
			if got, ok := Parse(text); !ok || !got.Equal(want) {
				t.Errorf("%q is %v %v, want %v", text, got, ok, want)
			}
		}
	}
}

// This test is not parallel, because it counts allocations.
func TestParseDoesNotAllocate(t *testing.T) {
	for _, text := range []string{
		"Thu, 19 Nov 2026 10:14:55 GMT", "2026-11-19T10:14:55.123+01:00", "Thu Nov 19 02:14:55 PST 2026",
		"le 19 décembre 2026 à 10h30", "19 ноября 2026 г. в 10:14", "2026년 11월 19일 오후 7:14", "hello world",
	} {
		if n := testing.AllocsPerRun(10, func() { Parse(text) }); n > 0 {
			t.Errorf("%q: %v allocations", text, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, row := range dateRows(f) {
		f.Add(row.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := Parse(text)
		if !ok {
			if !got.IsZero() {
				t.Fatalf("%q: a time without ok: %v", text, got)
			}
			return
		}
		if len(text) > maxDate || got.Location() != time.UTC {
			t.Fatalf("%q is %v", text, got)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		// Formatted dates must parse to the same time.
		for _, layout := range []string{time.RFC3339Nano, "Mon, 02 Jan 2006 15:04:05.999999999 -0700", time.ANSIC} {
			want := got
			if layout == time.ANSIC {
				want = got.Truncate(time.Second)
			}
			if again, ok := Parse(got.Format(layout)); !ok || !again.Equal(want) {
				t.Fatalf("%q is %v, but %q is %v", text, got, got.Format(layout), again)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, text := range []string{
		"Thu, 19 Nov 2026 10:14:55 GMT", "Thu, 19 Nov 2026 10:14:55 +0100", "2026-11-19T10:14:55Z", "2026-11-19T10:14:55.123+01:00",
		"Donnerstag, den 19. November 2026 um 10.14 Uhr", "19 ноября 2026 г. в 10:14",
	} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := Parse(text); !ok {
					b.Fatal("not read")
				}
			}
		})
	}
}

func TestAmbiguousDateUsesTheGivenDayMonthOrder(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text   string
		order  Order
		want   string // "" if the text is not a date
		proven Order
	}{
		{"03/04/2020", OrderUnknown, "", OrderUnknown},
		{"03/04/2020", MonthFirst, "2020-03-04", OrderUnknown},
		{"03/04/2020", DayFirst, "2020-04-03", OrderUnknown},
		{"03/15/2020", OrderUnknown, "2020-03-15", MonthFirst},
		{"03/15/2020", DayFirst, "2020-03-15", MonthFirst},
		{"15/03/2020", OrderUnknown, "2020-03-15", DayFirst},
		{"03-04-2020 10:00", MonthFirst, "2020-03-04", OrderUnknown},
		{"Wed, 03/04/2020", OrderUnknown, "2020-03-04", MonthFirst},
		{"Fri, 03/04/2020", OrderUnknown, "2020-04-03", DayFirst},
		{"Fri, 03/04/2020", MonthFirst, "2020-04-03", DayFirst}, // the weekday overrides the order
		{"Mon, 03/04/2020", OrderUnknown, "", OrderUnknown},     // neither day is a Monday
		{"Mon, 03/04/2020", MonthFirst, "2020-03-04", OrderUnknown},
		{"05/05/2020", OrderUnknown, "2020-05-05", OrderUnknown},
		{"31/12/03", DayFirst, "", OrderUnknown},
		{"3 April 2020", DayFirst, "2020-04-03", OrderUnknown},
	} {
		got, proven, ok := ParseOrder(row.text, row.order)
		day := ""
		if ok {
			day = got.Format(time.DateOnly)
		}
		if day != row.want || proven != row.proven {
			t.Errorf("%q in order %d is %q and proves %d, want %q and %d", row.text, row.order, day, proven, row.want, row.proven)
		}
	}
	if !Ambiguous("03/04/2020 10:00") || Ambiguous("03/15/2020") || Ambiguous("nothing") {
		t.Error("Ambiguous does not report dates that need an order, and only those")
	}
}
