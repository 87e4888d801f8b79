# Pinned tools: NVRTC 12.4 makes PTX that drivers from R550 on load; ptxas shows
# registers and refuses spills. Wheels of PyPI, fetched into TOOLCHAIN.
NVRTC     := nvidia-cuda-nvrtc-cu12==12.4.127
HEADERS   := nvidia-cuda-runtime-cu12==12.4.127
PTXAS     := nvidia-cuda-nvcc-cu12==12.4.131
TOOLCHAIN := .toolchain
STAMP     := $(TOOLCHAIN)/$(NVRTC).$(HEADERS).$(PTXAS)

GOVULNCHECK := v1.8.0
VULNDB      ?= https://vuln.go.dev

PYTHON ?= python3
GO     ?= go
RANKS  ?= 4

# Debugging data for which nothing here asks costs a fifth of compiling and half of linking. The heap grows to 17 times
# what is used, up to a GiB: collecting garbage more often costs a tenth of compiling, and never to collect any costs a
# fifth of tests, which then meet memory that the kernel has to clear. A shared library needs code that can be moved,
# and what else is built so need not be compiled twice.
export GOFLAGS ?= -buildvcs=false -buildmode=pie -ldflags=-w -gcflags=all=-dwarf=false -vet=off
export GOGC    ?= 1600
export GOMEMLIMIT ?= 1GiB

.DEFAULT_GOAL := help
.PHONY: help run verify test tests check checks vetted cross rename renamed generate toolchain tools mutants bench \
  soak fuzz vuln gpu-build gpu-test example

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Of every kind one that runs on any GPU: pulls by copies and by kernels, pushes round a ring, slots, stores, one shot,
# two shots, packets, a chain, a norm, a gradient, and uneven parts.
SHOWN := allgatherlinear allgatherlinearfused allgatherlinearringput linearreducescatter linearreducescatterkernels \
  reducescatteroneshot linearallreducetwoshot allreducepackets gatedmlp layernormlinear columnweightgradient alltoallv

run: ## four ranks compute a dozen schedules, bit for bit: on GPUs where there are, else in the simulator
	@echo "building the generated packages"
	@$(GO) run ./generated/run verify $(SHOWN) -type bf16 -ranks $(RANKS)
	@echo "these are $(words $(SHOWN)) schedules in bf16; make verify: all of them, in all types"

verify: ## generated code is current, and four ranks compute every schedule in every type: minutes
	$(GO) run ./cmd/ovgen diff -o generated ./schedule/catalog
	$(GO) run ./cmd/ovgen diff -o docs/examples/llama/generated ./docs/examples/llama/schedules
	$(GO) run ./generated/run verify all -ranks $(RANKS)

# To inline takes longer than what is inlined saves in tests of packages that run little, and so do debugging data of C.
SELDOM := $(patsubst %,'-gcflags=ovgen/%=-dwarf=false -l',cmd/... docs/... verify/served)
test check: export GOFLAGS += $(SELDOM)
test check: export CGO_CFLAGS ?= -O1
test check: export CGO_CXXFLAGS ?= -O1

# Of many tests that are alike each commit takes a sample (verify/sampling).
test check: export OVGEN_SAMPLE ?= $(shell printf %d 0x$$(git rev-parse --short=7 HEAD 2>/dev/null) 2>/dev/null)

# Everything that is compiled is compiled once: ovgen with the standard library first, then by vet what tests need.
# Behind vet the checks, the tests and make renamed, which compiles under other names, run side by side: some tests wait
# for more than they work. The longest tests start first. That of generated/programs runs what a generated package's own
# test does, linked once instead of for each. The tests of imports are among the checks.
LONGEST := ./generated/programs ./cmd/ovgen ./verify/served ./templates ./docs/examples/llama
test: ## make check, make renamed and tests, of those that are alike a sample
	$(GO) build -o /dev/null ./cmd/ovgen
	@$(MAKE) --no-print-directory -j3 renamed checks tests

# Tests run make themselves, which has no part in this one's jobs.
tests: tools vetted
	env -u MAKEFLAGS -u MAKELEVEL $(GO) test -p 3 -timeout 10m $(LONGEST) \
	  $$($(GO) list ./... | grep -v -e /generated/ -e /internal/imports)

check: checks ## regenerated code is the same, stamps and PTX are right, gofmt, vet, imports
	@echo "what seven packages enqueue is what was proven (make test: all)"
	@$(GO) test ./verify/record

checks: tools vetted
	@GO="$(GO)" bash .ci/check

# Else what tests need is compiled alone. Tests of generated packages run in generated/programs; the tests of imports
# check the types of their own.
vetted:
	@if [ $$(($${OVGEN_SAMPLE:-4} % 8)) = 4 ]; then echo go vet ./... && $(GO) vet ./...; \
	else $(GO) list -export -test -deps $$($(GO) list ./... | grep -v /generated/) >/dev/null && \
	  $(GO) list -export -deps ./... >/dev/null; fi

# On each system all packages and their tests must compile, even where none can run.
CROSS := GOOS=linux,GOARCH=amd64 GOOS=linux,GOARCH=arm64 GOOS=darwin,GOARCH=arm64

cross: ## build and vet everything without cgo, for Linux, Linux on arm64 and macOS
	@for c in $(CROSS); do \
	  echo "$$c"; \
	  env $$(echo $$c | tr , ' ') CGO_ENABLED=0 $(GO) build ./... && \
	  env $$(echo $$c | tr , ' ') CGO_ENABLED=0 $(GO) vet ./... || exit 1; \
	done

rename: ## move the module to where its owner publishes it: make rename MODULE=example.com/x/ovgen
	@GO="$(GO)" .ci/rename '$(MODULE)'

renamed: ## make rename in a copy of the tree, without cgo: it builds, is tested, and a user's module requires it
	@GO="$(GO)" .ci/renamed

generate: tools ## write generated/ anew from schedule/catalog
	$(GO) generate ./...

toolchain: $(STAMP) ## fetch the pinned NVRTC and ptxas into .toolchain

$(STAMP):
	rm -rf $(TOOLCHAIN)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
	  --target $(TOOLCHAIN) $(NVRTC) $(HEADERS) $(PTXAS)
	touch '$@'

# Fetches the toolchain if it can: without one, checks compare stamps instead of bytes.
tools:
	@$(MAKE) --no-print-directory toolchain || echo "no toolchain: PTX is checked by its stamps, not compiled again"

example: ## decode with a tiny Llama on 1 to 4 simulated ranks, and hold its logits against float64
	$(GO) test -count=1 ./docs/examples/llama/generated/programs
	OVGEN_EXAMPLE=1 $(GO) test -count=1 -v -run 'TestTokens|TestLogits' ./docs/examples/llama

mutants: ## break schedules, kernels and emitted Go, and see that it is noticed: 40 minutes of CPU time
	$(GO) run ./verify/mutate/cmd

bench: ## measure the generated packages on this machine
	$(GO) run ./generated/run bench all -ranks $(RANKS)

soak: fuzz ## make fuzz (4 minutes), then many more seeds of every package in the simulator: about an hour on 2 cores
	$(GO) test -C bench/plot -count=1 .
	OVGEN_SOAK=1 $(GO) test -timeout 3h ./verify/... ./generated/programs ./docs/examples/llama/... \
	  ./cmd/ovgen/internal/nvrtc ./schedule/hostir ./templates
	OVGEN_SOAK=1 $(MAKE) renamed
	OVGEN_SOAK=1 $(GO) test -count=1 -run TestScripts ./cmd/ovgen

# Fuzz targets of the code that reads input of others, as PACKAGE:TARGET. Their corpora run
# with the tests.
FUZZED := runtime/group/store:FuzzReadRequest runtime/group/store:FuzzReadAnswer runtime/group/store:FuzzServer \
  runtime/group/store:FuzzClient runtime/ipc:FuzzDecode runtime/tuning:FuzzParse \
  cmd/ovgen/internal/load:FuzzDecode schedule/lower:FuzzLower
FUZZTIME ?= 30s

fuzz: ## feed nonsense to the code that reads input of others, FUZZTIME each (30s)
	@for f in $(FUZZED); do \
	  echo "fuzz $$f"; \
	  $(GO) test -run '^$$' -fuzz "^$${f#*:}\$$" -fuzztime $(FUZZTIME) ./$${f%:*} || exit 1; \
	done

# Not part of make test, since it asks VULNDB over the network what is known today.
vuln: ## look for known vulnerabilities in the parts of Go and of other modules that are used
	$(GO) run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK) -db $(VULNDB) ./...

gpu-build: tools ## build what bench/gpu.sh runs on a machine with GPUs and without Go, into .gpu
	mkdir -p .gpu
	$(GO) build -o .gpu/run ./generated/run
	$(PYTHON) bench/tiles/delays.py generated $(TOOLCHAIN)/nvidia/cuda_nvrtc/lib/libnvrtc.so.12 .gpu
	$(GO) build -overlay .gpu/overlay.json -o .gpu/run-delays ./generated/run
	$(GO) test -c -o .gpu/cuda.test ./runtime/driver/cuda
	OVGEN_CONVERSIONS=$(CURDIR)/.gpu $(GO) test -count=1 -run TestConversions ./cmd/ovgen/internal/nvrtc
	$(GO) test -c -o .gpu/scenario.test ./verify/scenario
	$(GO) test -c -o .gpu/llama.test ./docs/examples/llama
	$(GO) build -o .gpu/llama-run ./docs/examples/llama/generated/run
	$(GO) test -c -o .gpu/llama-kernels.test ./docs/examples/llama/kernels
	$(GO) test -c -o .gpu/peers.test ./docs/examples/peers
	rm -rf .gpu/lib && $(GO) run ./cmd/ovgen gen -o generated -c .gpu/lib ./schedule/catalog >/dev/null
	$(GO) build -buildmode=c-shared -o .gpu/libovgen.so ./.gpu/lib && rm -rf .gpu/lib
	rm -rf .gpu/block && $(GO) run ./cmd/ovgen gen -o .gpu/block -c .gpu/lib ./bench/block >/dev/null
	$(GO) build -o .gpu/block-run ./.gpu/block/run
	$(GO) build -buildmode=c-shared -o .gpu/libblock.so ./.gpu/lib && rm -rf .gpu/lib .gpu/block
	rm -rf .gpu/stages && $(GO) run ./cmd/ovgen gen -o .gpu/stages ./bench/stages >/dev/null
	$(GO) build -o .gpu/stages-run ./.gpu/stages/run && rm -rf .gpu/stages
	rm -rf .gpu/forms && $(GO) run ./cmd/ovgen gen -o .gpu/forms ./bench/forms >/dev/null
	$(GO) build -o .gpu/forms-run ./.gpu/forms/run && rm -rf .gpu/forms
	rm -rf .gpu/norm && $(GO) run ./cmd/ovgen gen -o .gpu/norm -c .gpu/lib ./bench/norm >/dev/null
	$(GO) build -o .gpu/norm-run ./.gpu/norm/run
	$(GO) build -buildmode=c-shared -o .gpu/libnorm.so ./.gpu/lib && rm -rf .gpu/lib .gpu/norm
	$(GO) build -o .gpu/fewrows ./bench/fewrows
	rm -rf .gpu/ahead && $(GO) run ./cmd/ovgen gen -o .gpu/ahead ./bench/ahead >/dev/null
	$(GO) build -o .gpu/ahead-run ./.gpu/ahead/run && rm -rf .gpu/ahead
	OVGEN_FEWROWS_PTX=$(CURDIR)/.gpu/fewrows.ptx $(GO) test -count=1 -run TestFewRowsMeasured ./cmd/ovgen/internal/nvrtc
	$(GO) build -o .gpu/eighttiles ./bench/eighttiles
	OVGEN_EIGHT_TILES=$(CURDIR)/.gpu/eighttiles.ptx $(GO) test -count=1 -run TestEightTiles ./cmd/ovgen/internal/nvrtc
	rm -rf .gpu/gathers && $(GO) run ./cmd/ovgen gen -o .gpu/gathers ./bench/gathers >/dev/null
	$(GO) build -o .gpu/gathers-run ./.gpu/gathers/run && rm -rf .gpu/gathers
	rm -rf .gpu/hosts && $(GO) run ./cmd/ovgen gen -o .gpu/hosts ./bench/hosts >/dev/null
	$(GO) build -o .gpu/hosts-run ./.gpu/hosts/run && rm -rf .gpu/hosts
	rm -rf .gpu/ways && $(GO) run ./cmd/ovgen gen -o .gpu/ways ./bench/ways >/dev/null
	$(GO) build -o .gpu/ways-run ./.gpu/ways/run && rm -rf .gpu/ways
	rm -rf .gpu/invariant && $(GO) run ./cmd/ovgen gen -o .gpu/invariant ./bench/invariant >/dev/null
	$(GO) build -o .gpu/invariant-run ./.gpu/invariant/run && rm -rf .gpu/invariant

gpu-test: gpu-build ## test and measure on this machine's GPUs, figures to docs/results
	bench/gpu.sh all
