package doctest

import "strings"

// excuse is a reason by the page and the beginning of the block; a page alone stands for
// all blocks of it.
type excuse map[string]string

// elsewhere says why commands of the documentation do not run here.
func elsewhere() excuse {
	return excuse{
		"operations.md: install":          "it changes this machine's services",
		"operations.md: docker build":     "no engine for containers runs here; the image is checked in lab/packagetest",
		"operations.md: packaging":        "it installs on this machine; the package is checked in lab/packagetest",
		"operations.md: createdb":         "its database is on another machine; internal/app and the scripts of cmd/cloudburst run on PostgreSQL",
		"operations.md: cloudburst migr":  "the same; internal/store moves between both",
		"README.md: make":                 "it is what runs this test",
		"performance.md":                  "it measures for minutes, on a machine with nothing else to do",
		"scale.md":                        "the same",
		"simulation.md: cloudburst-lab b": "it measures for minutes; lab/bench tries it in short",
		"reliability.md":                  "it is long, and a test of its own",
	}
}

// held says which test holds a block that is neither a command nor data, and runs it, or makes it.
func held() excuse {
	return excuse{
		"ARCHITECTURE.md: feed/": "it is a picture; deps_test.go holds the layers",
		"feed-data.md":           "render: TestProgramsInTheManualRun runs each of them",
		"formats.md":             "internal/cli/formatcli: the examples are what convert writes",
		"scale.md: upstream":     "lab/clustertest: TestNodesAreReplacedBehindABalancer runs it",
		"scale.md: defaults":     "the same",
		"scale.md: ALTER":        "no Citus is here",
		"operations.md: ping ":   "internal/app: TestAChangeIsOneTrace",
		"simulation.md: 3,000":   "a past measurement; lab/bench repeats it",
		"notices.md":             "internal/endpoint/readhttp: they are what is sent; the function is tried on it",
		"apps.md: urls-source":   "internal/app: TestRecordedExchangesOfClients sends what newsboat sent with it",
		"apps.md: (setq elfeed":  "the same for elfeed",
	}
}

// of is the name of the excuse for a block, "" when there is none.
func (e excuse) of(b block) string {
	for name := range e {
		page, begin, _ := strings.Cut(name, ": ")
		if page == b.page && strings.HasPrefix(strings.TrimSpace(b.text), begin) {
			return name
		}
	}
	return ""
}
