use super::*;

fn status(lists: &str, standings: Vec<NodeStanding>) -> Status {
    let named = |(place, standing)| NodeStatus::new(format!("n{place}").into(), standing);
    Status::new(Membership::pictured(lists), (1..).zip(standings).map(named).collect())
}

const fn warming_up(secs: u64) -> NodeStanding {
    NodeStanding::WarmingUp { remaining: Duration::from_secs(secs) }
}

#[test]
fn a_status_shows_availability_and_a_line_for_each_master() {
    let cause = || "why".into();
    let every = vec![
        NodeStanding::Voting,
        warming_up(8),
        NodeStanding::Unconfirmed,
        NodeStanding::Unfit(cause()),
        NodeStanding::Rejected(cause()),
        NodeStanding::Disagrees(cause()),
        NodeStanding::Down(cause()),
    ];
    let text = "no lock can be acquired: 1 of 7 masters may vote, 4 needed\n  \
                n1  voting\n  \
                n2  warming up (may vote in 8 s)\n  \
                n3  unconfirmed (being asked)\n  \
                n4  unfit (why)\n  \
                n5  rejected (why)\n  \
                n6  disagrees (why)\n  \
                n7  down (why)";
    assert_eq!(status("nnnnnnn", every).to_string(), text);
    let soon = status("nnn", vec![NodeStanding::Voting, warming_up(20), warming_up(8)]);
    let text = "no lock can be acquired for 8 s: 1 of 3 masters may vote, 2 needed";
    assert_eq!(soon.to_string().lines().next(), Some(text));
    assert_eq!((soon.can_acquire(), soon.can_acquire_in()), (false, Some(Duration::from_secs(8))));
    let joint = status("bbno", vec![NodeStanding::Voting; 4]);
    let text = "locks can be acquired: 4 of 4 masters may vote, 2 of the 3 new and 2 of the 3 old \
                needed";
    assert_eq!(joint.to_string().lines().next(), Some(text));
    assert_eq!((joint.can_acquire(), joint.can_acquire_in()), (true, Some(Duration::ZERO)));
}

#[test]
fn what_an_operator_has_to_mend_is_a_problem_and_an_outage_is_none() {
    let cause = || "why".into();
    for (standing, problem) in [
        (NodeStanding::Voting, None),
        (warming_up(8), None),
        (NodeStanding::Unconfirmed, None),
        (NodeStanding::Down(cause()), None),
        (NodeStanding::Unfit(cause()), Some("why")),
        (NodeStanding::Rejected(cause()), Some("why")),
        (NodeStanding::Disagrees(cause()), Some("why")),
    ] {
        assert_eq!(standing.problem(), problem, "{standing}");
    }
}
