package doctest

import "strings"

// excuse maps a block to the reason why no test handles it. The key is a page and the beginning
// of the block, or only a page for all its blocks.
type excuse map[string]string

// elsewhere returns the commands that this test cannot run, with the reasons.
func elsewhere() excuse {
	return excuse{
		"deploy.md: install":              "changes the services of this machine",
		"deploy.md: docker build":         "needs a container engine; lab/packagetest checks the image",
		"deploy.md: packaging":            "installs on this machine; lab/packagetest checks the package",
		"backup.md: useradd":              "changes the users of this machine; lab/packagetest reads the folder of the package",
		"backup.md: createdb":             "needs a database on another machine; internal/app and the scripts of cmd/cloudburst test PostgreSQL",
		"backup.md: cloudburst migr":      "the same; internal/store tests the migration",
		"scale-out.md: cloudburst migr":   "needs Citus; internal/store/postgres has tests for a cluster",
		"backup.md: cloudburst backup":    "writes outside of its folder; cmd/cloudburst tests backups",
		"README.md: make":                 "runs this test",
		"notices.md: cloudburst notices":  "needs a Mastodon server; internal/endpoint/readhttp has a test with one",
		"performance.md":                  "measures for minutes, on an idle machine",
		"scale.md":                        "the same",
		"simulation.md: cloudburst-lab b": "measures for minutes; lab/bench has a short test",
		"reliability.md":                  "long; a separate test",
	}
}

// held returns the blocks that are neither commands nor data, with the tests that check them.
func held() excuse {
	return excuse{
		"ARCHITECTURE.md: feed/": "a diagram; deps_test.go checks the layers",
		"commands.md":            "internal/cli: the page is the help of the commands",
		"json.md: interface":     "internal/cli: the tests of each command compare the declarations with its types",
		"river-json.md: interfa": "the same",
		"doctor.md: interface":   "internal/cli/operatecli: a test compares the declarations with its types",
		"feed-data.md":           "render: TestDocumentedFeedDataProgramsRun runs each of them",
		"formats.md":             "internal/cli/formatcli: the examples are the output of convert",
		"nodes.md: upstream":     "lab/clustertest: TestNodesAreReplacedBehindABalancer runs it",
		"nodes.md: defaults":     "the same",
		"scale-out.md: CREATE":   "needs Citus; packaging/with-citus.sh runs it",
		"scale-out.md: SELECT":   "the same",
		"monitoring.md: ping ":   "internal/app: TestTraceOfAChangeCoversPingToLastDelivery",
		"notices.md":             "internal/endpoint/readhttp: the requests are those of the server; the function is tested with them",
		"apps.md: urls-source":   "internal/app: TestRecordedClientRequestsGetTheRecordedResponses sends the requests of newsboat",
		"apps.md: (setq elfeed":  "the same for elfeed",
	}
}

// of returns the key of the excuse for a block, or "" if there is none.
func (e excuse) of(b block) string {
	for name := range e {
		page, begin, _ := strings.Cut(name, ": ")
		if page == b.page && strings.HasPrefix(strings.TrimSpace(b.text), begin) {
			return name
		}
	}
	return ""
}
