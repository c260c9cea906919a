# Everything here needs Go and the module proxy, and nothing else.

GO ?= go
FUZZTIME ?= 20s
BENCH ?= .
GOLANGCI_LINT ?= github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.12.2

.PHONY: build test race lint fuzz bench golden ci

build: ## the binary, ./tidegate
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o tidegate ./cmd/tidegate

test: ## vet and all tests
	$(GO) vet ./...
	$(GO) test ./...

race: ## the packages that work in parallel, under the race detector (needs a C compiler)
	$(GO) test -race -run='Parallel|Case|Workers' ./internal/render ./internal/scan ./internal/engine ./internal/rule

lint: ## golangci-lint, built by go run the first time
	$(GO) run $(GOLANGCI_LINT) run ./...

fuzz: ## every fuzz target for FUZZTIME
	@set -e; for pkg in $$($(GO) list ./...); do \
		for name in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$name"; \
			$(GO) test -run='^$$' -fuzz="^$$name$$" -fuzztime=$(FUZZTIME) $$pkg; \
		done; \
	done

bench: ## the benchmarks that BENCH matches
	$(GO) test -run='^$$' -bench='$(BENCH)' -benchmem ./internal/...

golden: ## write what is compared byte for byte: golden files, scripts, README's output, docs/commands.md
	$(GO) generate ./...
	$(GO) test ./internal/engine -run=Golden -update
	$(GO) test ./internal/cli -run='Scripts|README' -update

ci: ## what CI runs
	.ci/run
