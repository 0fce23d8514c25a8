package simulate

import (
	"fmt"
	"math"
)

// Load describes the requests to an installation. Rates are per second, and shares are from 0 to
// 1.
type Load struct {
	Feeds, Subscriptions float64
	Pings, Notifications float64
	Changed              float64 // share of the pings whose feed has changed
	Zipf                 float64 // exponent: the k-th largest feed has 1/k^Zipf as many subscribers as the largest
	WebSub               float64 // share of the subscriptions that receive content
	HTTPS                float64 // share of the callbacks that use HTTPS
	Kept                 float64 // share of the notifications that use an open connection
	LargestHost          float64 // share of the callbacks that are on the largest host
	Churn                float64 // share of the subscriptions that are new each day
	Polled               float64 // number of feeds that are polled for users, each once an hour
	Answer               float64 // response time of a callback in seconds
	Content              float64 // bytes of a feed's content that is stored for WebSub
}

// Machine describes the hardware of each node and each database server. Zero means none.
type Machine struct {
	Cores         float64
	Memory        float64 // bytes of memory
	NIC           float64 // bits per second in each direction
	IOPS          float64 // random reads and writes per second of the database's disk
	Disk          float64 // bytes on disk
	Files         float64 // limit of open files of a node
	InFlight      float64 // concurrent notifications of a node (hub.max-in-flight)
	DatabaseConns float64 // limit of connections to a database
	Headroom      float64 // share of each resource that may be used, from 0 to 1
}

// Standard returns the default load, which resembles the open web with a billion subscriptions.
func Standard() Load {
	return Load{
		Feeds: 100e6, Subscriptions: 1e9, Pings: 10_000, Notifications: 1e6, Changed: 0.8, Zipf: 1,
		WebSub: 0.5, HTTPS: 0.9, Kept: 0.5, LargestHost: 0.01, Churn: 0.01, Answer: 0.15, Content: 10_000,
	}
}

// StandardMachine returns the hardware of a common rented server.
func StandardMachine() Machine {
	return Machine{
		Cores: 16, Memory: 64 << 30, NIC: 10e9, IOPS: 50_000, Disk: 8 << 40, Files: 1 << 20,
		InFlight: 8192, DatabaseConns: 1000, Headroom: 0.6,
	}
}

func (l Load) check() error {
	for _, v := range []struct {
		name  string
		value float64
		most  float64
	}{
		{"feeds", l.Feeds, 1e12}, {"subscriptions", l.Subscriptions, 1e13}, {"pings", l.Pings, 1e9}, {"notifications", l.Notifications, 1e11},
		{"polled", l.Polled, 1e12}, {"answer", l.Answer, 60}, {"content", l.Content, 1 << 30}, {"zipf", l.Zipf, 3},
		{"changed", l.Changed, 1}, {"websub", l.WebSub, 1}, {"https", l.HTTPS, 1}, {"kept", l.Kept, 1}, {"largest-host", l.LargestHost, 1}, {"churn", l.Churn, 1},
	} {
		if !(v.value >= 0 && v.value <= v.most) { // the negated form also rejects NaN
			return fmt.Errorf("--%s is %g: it must be between 0 and %g", v.name, v.value, v.most)
		}
	}
	if l.Subscriptions > 0 && l.Feeds < 1 {
		return fmt.Errorf("%s subscriptions need feeds, but --feeds is %g", amount(l.Subscriptions), l.Feeds)
	}
	if l.Notifications > 0 && (l.Subscriptions == 0 || l.Pings*l.Changed == 0) {
		return fmt.Errorf("%s notifications/s are impossible without subscriptions and pings that find a change", amount(l.Notifications))
	}
	return nil
}

func (m Machine) check() error {
	for _, v := range []struct {
		name  string
		value float64
	}{
		{"cores", m.Cores}, {"memory", m.Memory}, {"nic", m.NIC}, {"disk-iops", m.IOPS}, {"disk", m.Disk},
		{"files", m.Files}, {"in-flight", m.InFlight}, {"database-connections", m.DatabaseConns},
	} {
		if !(v.value > 0 && v.value <= 1e18) {
			return fmt.Errorf("--%s is %g: it must be more than 0", v.name, v.value)
		}
	}
	if !(m.Headroom > 0 && m.Headroom <= 1) {
		return fmt.Errorf("--headroom is %g: it must be more than 0 and at most 1", m.Headroom)
	}
	return nil
}

// scaled returns the load multiplied by a factor.
func (l Load) scaled(by float64) Load {
	l.Feeds, l.Subscriptions = math.Max(1, l.Feeds*by), l.Subscriptions*by
	l.Pings, l.Notifications, l.Polled = l.Pings*by, l.Notifications*by, l.Polled*by
	return l
}

// Popularity describes how subscribers and pings are distributed over feeds.
type Popularity struct {
	Largest  float64 // number of subscribers of the largest feed
	Mean     float64 // mean number of subscribers of a feed
	PerPing  float64 // mean number of subscribers of a changed feed
	Bias     float64 // feeds are pinged in proportion to subscribers^Bias
	Sentence string  // explanation for the user if the given numbers do not match each other
	feeds    float64
	zipf     float64
}

// fit computes how much more often large feeds are pinged, so that the numbers of pings,
// subscribers and notifications match each other. If no value matches, fit changes the number of
// notifications.
func (l *Load) fit() Popularity {
	p := Popularity{feeds: l.Feeds, zipf: l.Zipf}
	if l.Feeds < 1 || l.Subscriptions == 0 {
		return p
	}
	p.Mean = l.Subscriptions / l.Feeds
	p.Largest = l.Subscriptions / harmonic(l.Feeds, l.Zipf)
	changes := l.Pings * l.Changed
	if changes == 0 {
		return p
	}
	perPing := func(bias float64) float64 {
		return p.Largest * harmonic(l.Feeds, l.Zipf*(1+bias)) / harmonic(l.Feeds, l.Zipf*bias)
	}
	wanted := l.Notifications / changes
	even := changes * p.Mean
	given := fmt.Sprintf("%s pings/s, of which %s find a change, of feeds with %s subscribers on average cause %s notifications/s",
		amount(l.Pings), percent(l.Changed), amount(p.Mean), amount(even))
	low, high := -1.0, 1.0
	switch {
	case wanted <= perPing(low) || wanted >= perPing(high) || l.Zipf == 0 && math.Abs(wanted/p.Mean-1) > 0.01:
		p.PerPing = p.Mean
		p.Sentence = fmt.Sprintf("%s, and no preference for large or small feeds results in %s. The plan uses the pings and %s notifications/s.",
			given, amount(l.Notifications), amount(even))
		l.Notifications = even
		return p
	case math.Abs(wanted/p.Mean-1) <= 0.01:
		p.PerPing = wanted
		p.Sentence = given + ", as requested."
		return p
	}
	for range 60 {
		p.Bias = (low + high) / 2
		if perPing(p.Bias) < wanted {
			low = p.Bias
		} else {
			high = p.Bias
		}
	}
	p.PerPing = wanted
	which := "large"
	if p.Bias < 0 {
		which = "small"
	}
	p.Sentence = fmt.Sprintf("%s, not %s. To use both numbers, the plan assumes that %s feeds are pinged more often, in proportion to (subscribers)^%.2f; a changed feed has %s subscribers on average.",
		given, amount(l.Notifications), which, p.Bias, amount(wanted))
	return p
}

// exactTerms is the number of terms that harmonic adds one by one. It approximates the other
// terms by an integral.
const exactTerms = 1000

// harmonic returns the sum of 1/k^s over 1 ≤ k ≤ n.
func harmonic(n, s float64) float64 {
	sum := 0.0
	first := math.Min(math.Floor(n), exactTerms)
	for k := 1.0; k <= first; k++ {
		sum += math.Pow(k, -s)
	}
	if n <= exactTerms {
		return sum
	}
	a, b := exactTerms+0.5, n+0.5 // the midpoint rule approximates the sum, with an error below 10^-7
	if math.Abs(s-1) < 1e-9 {
		return sum + math.Log(b/a)
	}
	return sum + (math.Pow(b, 1-s)-math.Pow(a, 1-s))/(1-s)
}

// subscribers returns the number of subscribers of a random changed feed, for a random u between
// 0 and 1.
func (p Popularity) subscribers(u float64) float64 {
	s := p.zipf * p.Bias
	var rank float64
	if math.Abs(s-1) < 1e-9 {
		rank = math.Pow(p.feeds, u)
	} else {
		rank = math.Pow(u*(math.Pow(p.feeds, 1-s)-1)+1, 1/(1-s))
	}
	return p.Largest * math.Pow(math.Max(1, rank), -p.zipf)
}
