//! Addresses as users write them, one per line; a line that begins with a plus belongs to the
//! second list.

use crate::address;
use crate::lists::{Lists, Named};
use redis::IntoConnectionInfo;

/// The password that the fuzzer puts wherever it needs one.
const SECRET: &str = "hunter2";

pub(super) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lists = Lists::default();
    for line in text.lines() {
        let (list, address) = match line.strip_prefix('+') {
            Some(address) => (&mut lists.joint_with, address),
            None => (&mut lists.nodes, line),
        };
        list.push(Named::new(address, None));
        match address.into_connection_info() {
            Ok(info) => {
                if let Ok(known) = address::Address::from_info(&info, None) {
                    assert!(known.same_place(&known) && !known.name.is_empty(), "{line}");
                    let told = format!("{:?}", known.login);
                    let password = known.login.password.as_deref();
                    assert!(password != Some(SECRET) || told.contains("\"***\""), "{told}");
                }
            }
            Err(error) => {
                let told = address::parse_error(&error);
                assert!(!told.contains(SECRET) && !told.contains('\n'), "{line}: {told}");
            }
        }
    }
    let named = (lists.nodes.len(), lists.joint_with.len());
    if let Ok((masters, membership)) = lists.resolve(None) {
        let most = named.0 + named.1;
        assert!(masters.len() >= named.0.max(named.1) && masters.len() <= most, "{named:?}");
        let all = (0..masters.len()).collect();
        assert!(membership.is_quorum(all), "all of {named:?} are no quorum");
    }
}
