# Three commands to begin with: make run, make quick, make test.

# Go downloads the toolchain that go.mod names, whatever the environment contains;
# make GOTOOLCHAIN=local overrides this.
export GOTOOLCHAIN := auto
# The program contains no C code. Only the race detector needs cgo.
export CGO_ENABLED := 0

ARGS ?=
FUZZTIME ?= 10s
PACKAGES ?=
# These tests kill and disconnect nodes, which must renew leases in time: nothing else
# runs at the same time.
CLUSTER = ./lab/clustertest
# Packages with many goroutines over shared state. internal/store itself moves data with one goroutine.
RACE ?= $(addprefix ./protocol/,xmlrpc/... soap/... rsscloud/... websub/... weblogs/... cnws/...) \
	./internal/event/... ./internal/fetch/... ./internal/hub/... ./internal/limit/... ./internal/lease/... ./internal/cache/... ./internal/live/... ./internal/upstream/... $(addprefix ./internal/store/,hubsql postgres riversql sqldb sqlite sqlstore storetest) ./internal/endpoint/... ./internal/sanitize/... ./internal/cli ./internal/cli/shell ./internal/cli/formatcli ./internal/cli/hubcli ./internal/cli/readcli \
	./internal/river/... ./internal/serve/... ./internal/syndicate/... ./internal/account/... ./internal/author/... ./internal/announce/...
# The embedded database is translated C code with its own locks. Race detection inside it finds
# nothing and takes most of the time, so it covers only the callers. Packages that use generic types
# must not be in the list: the linker may choose their copies of shared code, such as that of sync.Map.
# (-dwarf=false: no debugger reads these programs.)
RACE_FLAGS = -race -gcflags=all=-dwarf=false $(foreach p,sqlite/lib libc/... memory,-gcflags='modernc.org/$(p)=-race=false -dwarf=false')
# Many tests build and start the program. go test cannot track that, so it must not use cached
# results. No debugger reads the test programs.
TEST_FLAGS ?= -timeout 60m -count 1 -ldflags='-s -w'
# With less garbage collection, tools that read and compile take a quarter less time.
TOOLS = GOGC=400 GOMEMLIMIT=2500MiB
# The test programs run without it.
GOTEST = env $(TOOLS) go test -exec 'env -u GOGC -u GOMEMLIMIT'
# Tests wait half of their time, so three packages share two CPUs. The longest ones come first in a list.
SHARE = -p $$(($$(nproc) * 3 / 2))
STATICCHECK = go tool -modfile=packaging/tools/go.mod staticcheck
LOOPBACK = 127.0.0.0/8,::1/128

.PHONY: help run build setup quick test test-packages test-all test-cluster format race fuzz bench lint cross reproduce check clean
.DEFAULT_GOAL := help

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## build and start a server on http://127.0.0.1:5337 with its data in ./data (more flags: ARGS=…)
	exec bin/cloudburst serve --listen 127.0.0.1:5337 --data data \
		--egress.allow-fetch $(LOOPBACK) --egress.allow-callback $(LOOPBACK) $(ARGS)

build: ## build bin/cloudburst and bin/cloudburst-lab (benchmarks and simulation)
	packaging/build.sh bin/cloudburst
	packaging/build.sh bin/cloudburst-lab ./cmd/cloudburst-lab

setup: ## install missing programs that the tests need (Debian; root or sudo)
	@packaging/setup-tests.sh

quick: format ## gofmt, go vet, commit subjects and short tests without services; run it after each change
	$(TOOLS) go vet ./...
	@packaging/subjects.sh
	go test -short -vet=off -ldflags=-w ./...

test: setup ## all tests, or those of PACKAGES, with a temporary PostgreSQL server
	packaging/with-postgres.sh $(MAKE) --no-print-directory -k $(if $(PACKAGES),test-packages,test-all test-cluster)

test-packages:
	$(GOTEST) $(TEST_FLAGS) $(PACKAGES)
test-all:
	$(GOTEST) $(SHARE) $(TEST_FLAGS) $$(go list ./internal/store/postgres ./lab/... ./internal/app ./... | grep -vxF "$$(go list $(CLUSTER))")
test-cluster:
	$(GOTEST) $(TEST_FLAGS) $(CLUSTER)

# Under the race detector, tests with much data and one goroutine skip themselves, and tests with many
# goroutines use fewer (internal/fulltest). test-all runs both in full.
race: setup ## tests of the core packages under the race detector
	$(TOOLS) CGO_ENABLED=1 go build $(RACE_FLAGS) $(RACE)
	CGO_ENABLED=1 packaging/with-postgres.sh $(GOTEST) $(SHARE) $(RACE_FLAGS) $(TEST_FLAGS) ./internal/river ./internal/hub $(RACE)

fuzz: ## each fuzz target for FUZZTIME
	@packaging/fuzz.sh $(FUZZTIME)

bench: build ## benchmarks, on loopback addresses only
	go test -run '^$$' -bench . -benchmem $(or $(PACKAGES),./...)
	bin/cloudburst-lab bench fanout
	bin/cloudburst-lab bench fanout --via websub --size 2000
	bin/cloudburst-lab bench changes
	bin/cloudburst-lab bench ping
	bin/cloudburst-lab bench slow

format:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "not formatted by gofmt:"; echo "$$files"; exit 1; fi

lint: format ## gofmt, go vet, staticcheck, import rule, citations, commit subjects
	$(TOOLS) go vet ./...
	$(TOOLS) $(STATICCHECK) ./...
	$(GOTEST) $(TEST_FLAGS) . ./spec
	packaging/subjects.sh

cross: ## build for the other supported systems (lint checks only the types)
	GOOS=linux GOARCH=arm64 go build -o /dev/null ./cmd/cloudburst
	GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/cloudburst

reproduce: ## compare two builds in two folders
	packaging/reproduce.sh

# lint runs go vet on all packages.
check: export TEST_FLAGS += -vet=off
check: ## all checks that a change must pass; .ci/run does the same on a bare machine
	$(MAKE) --no-print-directory lint
	$(TOOLS) $(MAKE) --no-print-directory build reproduce
	$(MAKE) --no-print-directory race
	@# Tests wait a lot, so fuzzing runs at the same time.
	FUZZ_WITHOUT=modernc.org/sqlite FUZZ_WORKERS=1 packaging/with-postgres.sh $(MAKE) --no-print-directory -j2 --output-sync=target fuzz test-all FUZZTIME=1s
	packaging/with-postgres.sh $(MAKE) --no-print-directory test-cluster

clean: ## remove bin/
	rm -rf bin
