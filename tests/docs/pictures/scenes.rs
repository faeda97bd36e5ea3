//! Invented runs.

use super::timeline::{
    Client, Ended, Fault, Hold, Master, Span, State, Timeline, Verdict, Violation,
};
use std::time::Duration;

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn span(from: u64, to: u64) -> Span {
    Span::new(ms(from), ms(to))
}

pub(crate) fn hold(resource: &str, from: u64, to: u64) -> Hold {
    Hold {
        resource: resource.to_owned(),
        span: span(from, to),
        deadline: None,
        fencing_token: None,
        ended: Ended::Released,
    }
}

pub(crate) fn client(name: &str, holds: Vec<Hold>) -> Client {
    Client { name: name.to_owned(), holds, paused: Vec::new() }
}

/// Makes ten seconds of these clients, and nothing else.
pub(crate) fn run(clients: Vec<Client>) -> Timeline {
    Timeline {
        title: "a run".to_owned(),
        span: span(0, 10_000),
        clients,
        masters: Vec::new(),
        faults: Vec::new(),
        violations: Vec::new(),
        verdict: Verdict::Good("nothing was broken".to_owned()),
        footer: vec!["seed 0x7".to_owned()],
    }
}

fn fault(at: u64, label: &str, on: &str) -> Fault {
    Fault { at: ms(at), label: label.to_owned(), on: Some(on.to_owned()) }
}

/// Makes everything that can be drawn, but nothing that is broken.
pub(crate) fn eventful() -> Timeline {
    let ended = |ended, mut hold: Hold| {
        hold.ended = ended;
        hold
    };
    let deadline = |at, mut hold: Hold| {
        hold.deadline = Some(ms(at));
        hold
    };
    let mut first = client(
        "client 1",
        vec![
            hold("orders", 200, 1_900),
            hold("orders", 3_200, 5_000),
            hold("stock", 2_100, 4_100),
            ended(Ended::Lost, hold("orders", 6_600, 7_400)),
            ended(Ended::Open, hold("stock", 8_300, 10_000)),
        ],
    );
    first.holds[1].fencing_token = Some(1_795_158_604_154_900);
    let mut second = client(
        "client 2",
        vec![
            hold("orders", 1_950, 3_150),
            deadline(7_000, ended(Ended::Lapsed, hold("stock", 4_200, 7_900))),
            ended(Ended::Lapsed, hold("invoices", 800, 2_800)),
        ],
    );
    second.paused = vec![span(5_600, 7_900)];
    let third = client(
        "client 3",
        vec![
            deadline(6_500, ended(Ended::Killed, hold("orders", 5_050, 5_900))),
            hold("invoices", 3_000, 3_900),
        ],
    );
    let thin = (0..150).map(|n| hold("invoices", 7_900 + 10 * n, 7_904 + 10 * n)).collect();
    let mut run = run(vec![first, second, third, client("client 4", thin)]);
    let master = |name: &str, states: &[(u64, u64, State)]| Master {
        name: name.to_owned(),
        states: states.iter().map(|(from, to, state)| (span(*from, *to), *state)).collect(),
    };
    use State::{Cut, Down, Paused, Slow, Up, WarmingUp};
    run.masters = vec![
        master("127.0.0.1:7001", &[(0, 10_000, Up)]),
        master(
            "127.0.0.1:7002",
            &[(0, 900, Up), (900, 1_700, Down), (1_700, 4_700, WarmingUp), (4_700, 10_000, Up)],
        ),
        master("127.0.0.1:7003", &[(0, 2_400, Up), (2_400, 4_200, Paused), (4_200, 10_000, Up)]),
        master("127.0.0.1:7004", &[(0, 5_200, Up), (5_200, 6_900, Cut), (6_900, 10_000, Up)]),
        master("127.0.0.1:7005", &[(0, 6_100, Up), (6_100, 8_800, Slow), (8_800, 10_000, Up)]),
    ];
    run.faults = vec![
        fault(900, "killed", "127.0.0.1:7002"),
        fault(1_700, "restarts empty", "127.0.0.1:7002"),
        fault(2_400, "paused", "127.0.0.1:7003"),
        fault(4_200, "goes on", "127.0.0.1:7003"),
        fault(5_200, "cut off", "127.0.0.1:7004"),
        fault(5_600, "paused", "client 2"),
        fault(5_900, "killed", "client 3"),
        fault(6_100, "slow", "127.0.0.1:7005"),
    ];
    run.title = "Ten seconds, five masters, four clients".to_owned();
    run.verdict = Verdict::Good("160 holds, no two of one resource at a time".to_owned());
    run.footer.push("QUORUMLOCK_SEED=0x7 make chaos".to_owned());
    run
}

/// Makes the same, with a client that holds what another one holds.
pub(crate) fn broken() -> Timeline {
    let mut run = eventful();
    run.clients[3].holds.push(hold("orders", 4_400, 5_300));
    run.violations = vec![
        Violation { span: span(4_400, 5_000), label: "orders: client 1 and client 4".to_owned() },
        Violation { span: span(5_050, 5_300), label: "orders: client 4 and client 3".to_owned() },
    ];
    run.verdict = Verdict::Bad("orders had two holders, twice".to_owned());
    run
}

/// Makes ten minutes, thirty clients, five resources, one holder at a time.
pub(crate) fn crowded(holds: u64) -> Timeline {
    let mut clients: Vec<Client> =
        (0..30).map(|n| client(&format!("client {n}"), Vec::new())).collect();
    let each = 600_000_000 / (holds / 5);
    for n in 0..holds {
        let (turn, resource) = (n / 5, n % 5);
        let from = Duration::from_micros(turn * each + resource * each / 7);
        let to = from + Duration::from_micros(each * (2 + n * 7_919 % 7) / 10);
        let name = ["orders", "stock", "invoices", "payments", "mail"][resource as usize];
        let mut hold = hold(name, 0, 0);
        hold.span = Span::new(from, to);
        hold.fencing_token = Some(1_795_158_604_154_900 + n);
        clients[(n * 104_729 % 30) as usize].holds.push(hold);
    }
    let mut run = run(clients);
    run.span = span(0, 601_000);
    run.masters = eventful().masters;
    run.faults = (0..120)
        .map(|n| fault(4_900 * n, ["killed", "paused", "cut off"][n as usize % 3], "client 4"))
        .collect();
    run
}
