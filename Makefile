.DEFAULT_GOAL := help
.PHONY: help lint lint-sources lint-packages package test verify night steady test-servers test-upgrade fix demo model prove planted simulate crowd chaos judge loom fuzz mutants bench bench-quick instructions \
	docker-up docker-down docker-command
SEEDS ?= 1000000
SHIPPED = -p quorumlock -p quorumlock-fencing -p quorumlock-cli -p quorumlock-core -p quorumlock-embedded

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

package: ## check that what cargo publish would send builds, with its docs; part of make lint
	scripts/package

lint: ## check format, clippy on every feature set, docs, dependencies, API and package; rewrites nothing
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint-sources lint-packages

# Clippy keeps one core busy, and the compiler of other crates the other.
lint-sources:
	@scripts/step 20 "format" cargo fmt --all -- --check
	@scripts/step 20 "format of the judge" cargo fmt --manifest-path proof/judge/Cargo.toml -- --check
	@scripts/step 480 "clippy" scripts/clippy
	@RUSTDOCFLAGS="-D warnings" scripts/step 120 "docs, private items as well" \
	  cargo doc --quiet --locked --no-deps $(SHIPPED) --all-features --document-private-items
	@RUSTDOCFLAGS="-D warnings" scripts/step 60 "docs" cargo doc --quiet --locked --no-deps $(SHIPPED) --all-features

lint-packages:
	@scripts/step 300 "licences and advisories" scripts/deny
	@scripts/step 20 "dependencies" scripts/dependencies
	@scripts/step 20 "public API" scripts/semver
	@scripts/step 10 "how likely" scripts/how-likely --check
	@scripts/step 360 "packages" scripts/package

test: ## show every guarantee once, in minutes; needs only cargo and redis-server, which it installs if needed
	@scripts/step 60 "redis-server" scripts/install redis-server
	@scripts/test

verify: ## run every test that there is, and short forms of the model, the proof and chaos; installs what it needs if CI is set
	@scripts/step 60 "redis-server" scripts/install redis-server
	@[ -z "$${CI+set}" ] || scripts/step 240 "tools" scripts/install sqlite3 postgresql chromium faketime python
	@scripts/verify

night: ## run the long forms of all that looks for faults, in ten hours or so, and print one summary
	@scripts/night

steady: ## run the tests again and again next to four busy processes, and count what fails; RUNS=10, TIER=verify
	@RUNS="$(RUNS)" TIER="$(TIER)" scripts/steady

test-servers: ## run the same on Redis 6.2, 7.0, 8, Valkey 8, 9 and a mixed quorum, in half an hour; SERVERS=, TARGETS=, FRESH=1
	@TARGETS="$(TARGETS)" FRESH="$(FRESH)" scripts/test-servers $(SERVERS)

test-upgrade: ## run commands of another version next to this one's, upgrading and downgrading; FROM=, a commit
	@FROM="$(FROM)" scripts/test-upgrade

fix: ## fix what lint finds, where that can be automated
	cargo clippy --fix --allow-dirty --allow-staged --workspace --exclude quorumlock-fuzz --all-targets --all-features
	cargo fmt --all
	cargo fmt --manifest-path proof/judge/Cargo.toml

demo: ## watch a lock survive the loss of two of five masters, and a store refuse a late write; needs nothing but cargo; ARGS=--without-fence has it accept that, ARGS=--on-nodes plays it on those in QUORUMLOCK_NODES
	@echo "Builds the demo (a minute the first time on two cores; cargo shows how far it is), then plays it for 27 seconds."
	@cargo build --locked --profile demo --package demo
	@cargo run --quiet --locked --profile demo --package demo -- $(ARGS)

model: ## explore every order of protocol events within bounds, and what each broken rule costs, in minutes
	cargo run --release --locked -p model -- --write

prove: ## prove the guarantees for any number of masters and clients, by two solvers, and what each rule is needed for; a minute
	scripts/prove

planted: ## change the code that ships, in many ways, and check that the proof refuses a step of each; NAMES=, a quarter of an hour
	scripts/planted $(NAMES)

bench: ## compare with bare sockets and other crates, on Redis 7.0 and Valkey 9, which it fetches; an hour at most; ARGS=--plan
	scripts/bench $(ARGS)

bench-quick: ## run a part of bench in under two minutes
	scripts/bench --quick $(ARGS)

instructions: ## compare a lock's cost in instructions and allocations with the recorded one; installs valgrind if needed
	scripts/instructions

chaos: ## use locks on five containers while masters and clients fail; MINUTES=3; SEED= repeats the choices; CLOCKS=1 gives each process a clock of its own
	@MINUTES="$(MINUTES)" SEED="$(SEED)" ODDS="$(ODDS)" CLOCKS="$(CLOCKS)" WITHOUT="$(WITHOUT)" scripts/chaos $(SECONDS)

judge: ## judge a history of chaos again, by its own checks and by porcupine-rs; HISTORY=
	@test -f "$(HISTORY)" || { echo "error: HISTORY= must name a file, such as target/chaos/0x1f.edn" >&2; exit 1; }
	@status=0; \
	QUORUMLOCK_CHAOS_HISTORY="$(abspath $(HISTORY))" cargo test --quiet --locked --all-features --test docker -- \
	  --nocapture --exact --ignored chaos::a_history_is_judged || status=1; \
	scripts/judge "$(HISTORY)" || status=1; \
	exit $$status

loom: ## check hand-written thread sharing in every order of events; seconds, once it is built
	cargo test --locked -p quorumlock-loom

mutants: ## check that tests notice every small change of what decides or turns replies into votes; about half an hour
	scripts/mutants

fuzz: ## check that nothing breaks whatever bytes arrive; a minute per target, or SECONDS_EACH; installs g++ if needed
	scripts/fuzz $(TARGETS)
simulate: ## simulate clusters with faults, in a million seeded worlds, or SEEDS=20000, MINUTES=5, SEED=; each step is one of the proof
	scripts/prove --export target/formulas
	QUORUMLOCK_SEED=$(or $(SEED),random) QUORUMLOCK_SEEDS=$(SEEDS) $(if $(MINUTES),QUORUMLOCK_MINUTES=$(MINUTES)) \
	  cargo test --quiet --profile worlds --locked -p simulation \
	  trials::worlds_without_end -- --ignored --nocapture

crowd: ## hand-overs among a thousand and ten thousand clients, simulated: commands, messages, sections, waits, shares; long
	cargo test --quiet --release --locked -p simulation crowd:: -- --include-ignored --nocapture

docker-up: ## start five masters in containers and print where they are; DOCKER_PROFILE=volatile or durable
	@docker/up

docker-down: ## take those masters down, leaving no container, network or volume
	@docker/down

docker-command: ## build quorumlock:local, an image of the command, from nothing but it and its libraries
	@docker/build-command-image
