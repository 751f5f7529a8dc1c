# Works with GNU make 4.3 and bash. Targets install what they need.
SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build demo test check soak crash hosts mutants bench engines packages fuzz tools

FUZZTIME ?= 60s
COUNT    ?= 1
KILLS    ?= 1000
SAMPLES  ?= 50000000
VERSIONS := go1.26.8,go1.27.4
DEMO     := out/demo
PARTS    := programs race-recording files race around recording builds documents

help: ## list the targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

build: ## build the commands into bin/
	go build -o bin/ ./cmd/...

demo: build ## record a real program for some seconds, convert it, say how to open it
	go -C fixtures build -o ../bin/demo ./demo
	@rm -rf $(DEMO) && mkdir -p $(DEMO)/tally
	GPROF_SESSION=$(DEMO)/session bin/demo -tally $(DEMO)/tally
	bin/gprof-convert $(DEMO)/session -o $(DEMO)/demo.json.gz
	bin/gprof-convert info $(DEMO)/session
	bin/gprof-convert info --json $(DEMO)/session >$(DEMO)/info.json
	@echo
	bin/demo check -tally $(DEMO)/tally $(DEMO)/info.json
	@echo
	@if [ -e .tools/judges/installed.json ]; then \
		go -C fixtures run ./view $(CURDIR)/$(DEMO)/demo.json.gz | tee $(DEMO)/firefox.txt; \
	else echo 'After `make tools`, what Firefox Profiler sees in the profile is shown here.'; fi
	@echo
	@echo 'Every marker that was acknowledged is in the recording, also those of the worker that was killed.'
	@echo 'To look at it: open https://profiler.firefox.com and drop $(CURDIR)/$(DEMO)/demo.json.gz on the page.'

test: tools ## run the tests with the race detector
	@for module in $$(.ci/modules); do go -C $$module test -race -json ./...; done | go run .ci/tally.go

check: ## all that continuous integration checks
	@.ci/install compiler
	@.ci/install & install=$$!; .ci/vet; wait $$install
	@go run .ci/tally.go $(PARTS:%='.ci/suite %') .ci/static

soak: tools ## for a release, some hours: full sizes, a thousand kills, every fuzz target for FUZZTIME
	@export TEST_SOAK=1 GOFLAGS=-timeout=2h; failed=0; for part in $(PARTS); do \
		go run .ci/tally.go ".ci/suite $$part" || failed=1; \
	done; exit $$failed
	@$(MAKE) --no-print-directory crash hosts mutants fuzz
	go -C bench run ./since

crash: ## kill recording programs KILLS times, and in every other way; compare with what they acknowledged; two million stacks
	go -C fixtures build -o ../bin/crash ./crash
	bin/crash -kills $(KILLS)
	TEST_STACKS=2000000 go -C recorder test -count=1 -v -timeout 60m -run '^TestGenerations$$' ./internal/keeper

hosts: ## record programs that are hard on a sampler until there are SAMPLES of each version of Go; try handlers that are wrong
	go -C fixtures run ./soak -control
	go -C fixtures run ./soak -for 30s -samples $(SAMPLES) -go $(VERSIONS)
	go -C fixtures run ./soak -for 30s -samples $$(($(SAMPLES) / 50)) -go $(VERSIONS) -arch arm64

mutants: tools ## break each rule of docs/gecko.md, and see which test finds it
	go -C fixtures run ./mutants

bench: tools ## run all benchmarks: the stages COUNT times, what outputs cost, two cores and many dumps, recording beside its peers; out/bench.txt is for `go -C bench tool benchstat`
	@mkdir -p out && rm -f out/bench.txt
	for module in $$(.ci/modules); do go -C $$module test -run '^$$' -bench . -benchmem -count $(COUNT) ./... | tee -a $(CURDIR)/out/bench.txt; done
	go -C bench/outputs run . -benchstat $(CURDIR)/out/bench.txt
	go -C bench run ./cores -benchstat $(CURDIR)/out/bench.txt
	for i in $$(seq $(COUNT)); do go -C bench/peers run . -benchstat $(CURDIR)/out/bench.txt; done

engines: ## do the tasks of a plan with Spark, Flink, Dask, Ray and Slurm, and as Kubernetes would; a worker is killed in each
	@.ci/install engines
	go -C fixtures test -tags engines -count=1 -v -run '^TestEngines$$' .

packages: ## make a release of the last commit twice, publish nothing, test what comes out; it stays in out/packages
	@.ci/install packages
	go -C fixtures/packages test -tags release -count=1 -v -timeout 2h -run '^TestRelease$$' .

fuzz: tools ## run every fuzz target for FUZZTIME
	@.ci/fuzz $(FUZZTIME) | go run .ci/tally.go

tools: ## install what is missing on this machine
	@.ci/install
