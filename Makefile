# Two commands to begin with: make run, make test.

# The toolchain is the one that go.mod names, fetched where it is not here, whatever
# the environment says; make GOTOOLCHAIN=local overrides it.
export GOTOOLCHAIN := auto
# The program has no C in it. Only the race detector needs cgo.
export CGO_ENABLED := 0

ARGS ?=
FUZZTIME ?= 10s
PACKAGES ?=
# Nodes that are killed and cut off have times to keep: nothing runs beside them.
ALONE = ./internal/clustertest
# What runs many goroutines over shared state.
RACE ?= ./xmlrpc/... ./soap/... ./rsscloud/... ./websub/... ./weblogs/... ./cnws/... \
	./internal/event/... ./internal/fetch/... ./internal/hub/... ./internal/upstream/... ./internal/store/... ./internal/gateway/... ./internal/sanitize/... ./internal/cli/... \
	./internal/river/... ./internal/serve/... ./internal/syndicate/... ./internal/account/... ./internal/author/... ./internal/announce/...
# The embedded database is C that was translated, with locks of its own: watching each of
# its loads finds nothing and takes most of the time. What calls it is watched. (No debugger
# reads these programs: what would be for one is not written.)
RACE_FLAGS = -race -gcflags=all=-dwarf=false -gcflags='modernc.org/sqlite/lib=-race=false -dwarf=false' -gcflags='modernc.org/libc/...=-race=false -dwarf=false'
# One caller and much data: the detector has nothing to find in it, and takes long. race
# leaves out what this matches, and crowds runs what it matches: each test has its turn.
UNWATCHED = TestKeepsTheContract/One_caller|TestAHundredThousandPosts|TestAFullDatabase|TestALargeFile|TestALargeGoodFile|TestNoStatementGoes|TestEveryStatementGoes|TestTheSchemaThatIsRead|TestNoStatementReads|TestAPageWalksTheKey|TestKeepsTheContract/Contents/AContentComesBack|TestAllNodesTogetherKeepARate|TestKeepsTheContract/Parts/PagesCoverTwentyThousand|TestAHierarchicalPostComesBack|TestAnOutlineComesBackFromOPML|TestTimeIsLinear|TestHostileShapesStay|TestWhatFeedsHaveIs
# Many tests build the program and start it, which go test does not see: no answer of an
# earlier run counts.
TEST_FLAGS ?= -timeout 20m -count 1
# What only reads and compiles takes a quarter less time where it seldom collects its garbage.
TOOLS = GOGC=400 GOMEMLIMIT=2500MiB
STATICCHECK = go tool -modfile=packaging/tools/go.mod staticcheck
LOOPBACK = 127.0.0.0/8,::1/128

.PHONY: help run build setup test some others alone race crowds fuzz bench lint cross reproduce check clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## build and start a server to try, on http://127.0.0.1:5337, its store in ./data (more flags: ARGS=…)
	exec bin/cloudburst serve --listen 127.0.0.1:5337 --data data \
		--egress.allow-fetch $(LOOPBACK) --egress.allow-callback $(LOOPBACK) $(ARGS)

build: ## bin/cloudburst
	packaging/build.sh bin/cloudburst

setup: ## install what the tests need, where it is missing (Debian; root or sudo)
	@packaging/setup-tests.sh

test: setup ## every test, or those of PACKAGES, beside a PostgreSQL server that lives as long as they do
	packaging/with-postgres.sh $(MAKE) --no-print-directory -k $(if $(PACKAGES),some,others alone)

some:
	go test $(TEST_FLAGS) $(PACKAGES)
others:
	go test $(TEST_FLAGS) $$(go list ./... | grep -vxF "$$(go list $(ALONE))")
alone:
	go test $(TEST_FLAGS) $(ALONE)

race: setup ## the core's tests under the race detector
	$(TOOLS) CGO_ENABLED=1 go build $(RACE_FLAGS) $(RACE)
	CGO_ENABLED=1 packaging/with-postgres.sh go test $(RACE_FLAGS) $(TEST_FLAGS) -skip '$(UNWATCHED)' $(RACE)

# Where many do something at once there are fewer of them under the race detector (these are
# named here), and where one does much it is left out.
crowds: setup ## what is smaller or left out under the race detector, in its full size
	packaging/with-postgres.sh go test $(TEST_FLAGS) -run '$(UNWATCHED)|ManyRenewals|ManyLogIns|HugeList|QuickReader' $(RACE)

fuzz: ## every fuzz target for FUZZTIME each
	@packaging/fuzz.sh $(FUZZTIME)

bench: build ## the benchmarks, on this machine's loopback only
	go test -run '^$$' -bench . -benchmem $(or $(PACKAGES),./...)
	bin/cloudburst bench fanout
	bin/cloudburst bench fanout --via websub --size 2000
	bin/cloudburst bench changes
	bin/cloudburst bench ping
	bin/cloudburst bench slow

lint: ## gofmt, go vet, staticcheck, the import rule and the citations
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "not formatted by gofmt:"; echo "$$files"; exit 1; fi
	$(TOOLS) go vet ./...
	$(TOOLS) $(STATICCHECK) ./...
	go test $(TEST_FLAGS) . ./spec

cross: ## does it build for the other systems that it runs on? (lint checks the types for them)
	GOOS=linux GOARCH=arm64 go build -o /dev/null ./cmd/cloudburst
	GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/cloudburst

reproduce: ## do two builds in two folders come out the same?
	packaging/reproduce.sh

# lint has vetted it all.
check: export TEST_FLAGS += -vet=off
check: ## all that a change must pass; .ci/run is this
	$(MAKE) --no-print-directory lint
	$(TOOLS) $(MAKE) --no-print-directory build reproduce
	$(MAKE) --no-print-directory race
	@# What lint and the race detector have run does not run twice; and tests wait much.
	FUZZ_WITHOUT=modernc.org/sqlite FUZZ_WORKERS=1 $(MAKE) --no-print-directory -j2 --output-sync=target fuzz test crowds FUZZTIME=1s \
		PACKAGES="$$(bash -c 'comm -23 <(go list ./... | sort) <(go list . ./spec $(RACE) $(ALONE) | sort)' | tr '\n' ' ')"
	packaging/with-postgres.sh $(MAKE) --no-print-directory alone

clean: ## remove bin/
	rm -rf bin
