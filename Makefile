.DEFAULT_GOAL := help
.PHONY: help lint test fix demo bench bench-quick instructions docker-up docker-down

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

lint: ## format, clippy on every feature set, documentation, dependencies; rewrites nothing
	cargo fmt -- --check
	cargo fmt --manifest-path benches/peers/Cargo.toml -- --check
	scripts/clippy
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --all-features --document-private-items
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --all-features
	scripts/deny

test: ## every test, against redis-servers that it starts; installs redis-server if need be
	scripts/redis-server
	scripts/sqlite3
	scripts/test

fix: ## mends what lint finds and a machine can mend
	cargo clippy --fix --allow-dirty --allow-staged --all-targets --all-features
	cargo fmt
	cargo fmt --manifest-path benches/peers/Cargo.toml

demo: ## a lock survives the loss of two of five masters, live; needs nothing but cargo
	@echo "Builds the example (a minute the first time), then plays it for 23 seconds."
	cargo run --quiet --locked --profile demo --example failover --features embedded

bench: ## beside bare sockets and other crates, on masters that it starts: more than an hour
	scripts/redis-server
	cargo run --release --locked --manifest-path benches/peers/Cargo.toml

bench-quick: ## a part of it in under two minutes
	scripts/redis-server
	cargo run --release --locked --manifest-path benches/peers/Cargo.toml -- --quick

instructions: ## what the restart guard costs a lock, counted and held to its bound; installs valgrind if need be
	scripts/instructions

docker-up: ## five masters in containers, and where they are; DOCKER_PROFILE=volatile or durable
	@docker/up

docker-down: ## takes those masters down: no container, network or volume is left
	@docker/down
