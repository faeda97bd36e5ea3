.DEFAULT_GOAL := help
.PHONY: help lint package test test-servers test-upgrade fix demo model simulate chaos loom fuzz mutants bench bench-quick instructions \
	docker-up docker-down
SEEDS ?= 1000000

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

package: ## what cargo publish would send: it builds, and its pages do; part of make lint
	scripts/package

lint: ## format, clippy on every feature set, documentation, dependencies, package; rewrites nothing
	cargo fmt -- --check
	cargo fmt --manifest-path benches/peers/Cargo.toml -- --check
	cargo fmt --manifest-path fuzz/Cargo.toml -- --check
	cargo fmt --manifest-path proof/loom/Cargo.toml -- --check
	cargo fmt --manifest-path proof/model/Cargo.toml -- --check
	scripts/clippy
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --all-features --document-private-items
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --all-features
	scripts/deny
	scripts/dependencies
	scripts/package

test: ## every test, against redis-servers that it starts; installs redis-server if need be
	scripts/redis-server
	scripts/sqlite3
	scripts/postgresql
	scripts/browser
	scripts/faketime
	scripts/python
	scripts/test

test-servers: ## the same on Redis 6.2, 7.0, 8, Valkey 8, 9 and a mixed quorum: half an hour; SERVERS=, TARGETS=, FRESH=1
	@TARGETS="$(TARGETS)" FRESH="$(FRESH)" scripts/test-servers $(SERVERS)

test-upgrade: ## commands of another version beside this one's, up and down: FROM=, a commit
	@FROM="$(FROM)" scripts/test-upgrade

fix: ## mends what lint finds and a machine can mend
	cargo clippy --fix --allow-dirty --allow-staged --all-targets --all-features
	cargo fmt
	cargo fmt --manifest-path benches/peers/Cargo.toml
	cargo fmt --manifest-path fuzz/Cargo.toml
	cargo fmt --manifest-path proof/loom/Cargo.toml
	cargo fmt --manifest-path proof/model/Cargo.toml

demo: ## a lock survives the loss of two of five masters, live; needs nothing but cargo
	@echo "Builds the example (a minute the first time), then plays it for 23 seconds."
	cargo run --quiet --locked --profile demo --example failover --features embedded

model: ## every order of events of the protocol within bounds, and what each broken rule costs: minutes
	cargo run --release --locked --manifest-path proof/model/Cargo.toml -- --write

bench: ## beside bare sockets and other crates, on Redis 7.0 and Valkey 9, which it fetches: an hour at most; ARGS=--plan
	scripts/bench $(ARGS)

bench-quick: ## a part of it in under two minutes
	scripts/bench --quick $(ARGS)

instructions: ## what a lock costs in instructions and allocations, held to what is written down; installs valgrind if need be
	scripts/instructions

chaos: ## locks on five containers while masters and clients are struck: MINUTES=3; SEED= repeats the choices
	@MINUTES="$(MINUTES)" SEED="$(SEED)" ODDS="$(ODDS)" WITHOUT="$(WITHOUT)" scripts/chaos $(SECONDS)

loom: ## what threads share by hand, in every order of events: seconds, once it is built
	cargo test --locked --manifest-path proof/loom/Cargo.toml

mutants: ## every small change of what decides and of what makes votes of replies is noticed: half an hour or so
	scripts/mutants

fuzz: ## whatever bytes arrive, nothing breaks: a minute each, or SECONDS_EACH; installs g++ if need be
	scripts/fuzz $(TARGETS)
simulate: ## clusters with faults, a million worlds from seeds, or SEEDS=20000, MINUTES=5, SEED=; needs only cargo
	QUORUMLOCK_SEED=$(or $(SEED),random) QUORUMLOCK_SEEDS=$(SEEDS) $(if $(MINUTES),QUORUMLOCK_MINUTES=$(MINUTES)) \
	  cargo test --quiet --release --locked --features embedded --lib \
	  simulation::trials::worlds_without_end -- --ignored --nocapture

docker-up: ## five masters in containers, and where they are; DOCKER_PROFILE=volatile or durable
	@docker/up

docker-down: ## takes those masters down: no container, network or volume is left
	@docker/down
