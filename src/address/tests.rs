use super::*;

use redis::{IntoConnectionInfo, RedisResult};

/// Takes an address through all steps, as the builder does.
fn address(input: impl IntoConnectionInfo) -> Result<Address, String> {
    let info = input.into_connection_info().map_err(|error| parse_error(&error))?;
    Address::from_info(&info, None)
}

/// Returns what the builder shows for a text that is not an address.
fn refusal(input: &str) -> String {
    match input.into_connection_info() {
        Err(error) => parse_error(&error),
        Ok(info) => Address::from_info(&info, None).err().expect(input),
    }
}

#[test]
fn a_name_shows_the_place_and_never_the_credentials() {
    for (input, name) in [
        ("redis://10.0.0.1", "10.0.0.1:6379"),
        ("valkey://Master-1.example:7000/3", "Master-1.example:7000"),
        ("redis://me:hunter2@master:6380", "master:6380"),
        ("redis://[::1]:6379", "[::1]:6379"),
        ("unix:///run/redis.sock?user=me&pass=hunter2", "/run/redis.sock"),
    ] {
        assert_eq!(&*address(input).unwrap().name, name);
    }
    for (host, name) in [("::1", "[::1]:6379"), ("[::1]", "[::1]:6379"), ("m", "m:6379")] {
        assert_eq!(&*address((host, 6379)).unwrap().name, name);
    }
}

#[test]
fn a_login_is_taken_from_wherever_the_url_has_it() {
    for (input, username, password, database) in [
        ("redis://h", None, None, 0),
        ("redis://:pw@h/2", None, Some("pw"), 2),
        ("redis://me:p%40%2Fw@h", Some("me"), Some("p@/w"), 0),
        ("unix:///s?user=me&pass=pw&db=4", Some("me"), Some("pw"), 4),
    ] {
        let login = address(input).unwrap().login;
        assert_eq!(login.username.as_deref(), username, "{input}");
        assert_eq!(login.password.as_deref(), password, "{input}");
        assert_eq!(login.database, database, "{input}");
    }
}

#[test]
fn a_login_keeps_its_password_out_of_debug() {
    let login = address("redis://me:hunter2@h/1").unwrap().login;
    assert_eq!(
        format!("{login:?}"),
        r#"Login { username: Some("me"), password: Some("***"), database: 1 }"#
    );
}

#[test]
fn a_refused_text_says_what_is_wrong_and_what_is_right() {
    const LIKE: &str = r#"write it like "redis://10.0.0.1:6379" or "unix:///run/redis.sock""#;
    for (input, problem) in [
        ("", NO_URL),
        ("master", NO_URL),
        ("me:hunter2@localhost:6379", NO_URL),
        ("redis//localhost:6379", NO_URL),
        ("http://x", NO_URL),
        ("hunter2@h://x", NO_URL),
        ("://x", NO_URL),
        ("redis://", "the address has no host"),
        ("redis:localhost", "the address has no host"),
        ("redis://h:99999", NO_URL),
        ("redis://:hunter2", NO_URL),
        ("redis://me:hun/ter2@h", NO_URL),
        ("redis://h/hunter2", "the database is not a number"),
        ("redis://h:0", "port 0 is not a port to connect to"),
        ("redis://h?protocol=hunter2", "Invalid protocol version"),
        ("redis://0.0.0.0", "Cannot connect to a wildcard address (0.0.0.0 or ::)"),
        ("redis://me:%ff@h", "Password is not valid UTF-8 string"),
    ] {
        assert_eq!(refusal(input), format!("{problem}: {LIKE}"), "{input}");
    }
    for (input, whole) in [
        ("redis://h/-1", "database -1: the numbers of databases start at 0"),
        ("unix:///s?db=-2", "database -2: the numbers of databases start at 0"),
    ] {
        assert_eq!(refusal(input), whole);
    }
    assert_eq!(address(("", 1)).err().unwrap(), format!("the address has no host: {LIKE}"));
}

const NO_URL: &str = "the address is not a URL for Redis (it needs a scheme such as redis://, %XX for \
                      special characters in a user name or password, brackets around IPv6)";

#[test]
#[cfg(not(feature = "tls"))]
fn tls_without_the_feature_names_the_feature() {
    let fix = r#"the address asks for TLS: enable the feature "tls" of quorumlock"#;
    assert_eq!(refusal("rediss://me:hunter2@master"), fix);
    let by_hand = ConnectionAddr::TcpTls {
        host: "master".into(),
        port: 6379,
        insecure: false,
        tls_params: None,
    };
    assert_eq!(address(by_hand).err().unwrap(), fix);
}

#[test]
fn a_setting_that_makes_no_difference_is_accepted() {
    let settings = redis::RedisConnectionInfo::default()
        .set_protocol(redis::ProtocolVersion::RESP3)
        .set_skip_set_lib_name();
    let tcp = redis::io::tcp::TcpSettings::default().set_nodelay(true);
    for info in [info().set_redis_settings(settings), info().set_tcp_settings(tcp)] {
        assert_eq!(&*address(info).unwrap().name, "master:6379");
    }
}

#[test]
fn a_client_is_an_address_by_its_connection_info() {
    let named = |info: RedisResult<ConnectionInfo>| address(info.unwrap()).unwrap();
    for (url, name) in [
        ("redis://me:pw@master:6380/2", "master:6380"),
        ("unix:///run/redis.sock?user=me&pass=pw&db=2", "/run/redis.sock"),
        #[cfg(feature = "tls")]
        ("rediss://me:pw@master:6380/2#insecure", "master:6380"),
    ] {
        let client = redis::Client::open(url).unwrap();
        for found in [named((&client).into_info()), named(client.get_connection_info().into_info())]
        {
            assert_eq!(&*found.name, name);
            assert_eq!(found.login, address(url).unwrap().login);
        }
    }
}

/// Returns what a program has that sets up its connections itself.
fn info() -> ConnectionInfo {
    "redis://master".into_connection_info().unwrap()
}

#[test]
fn one_server_is_one_place_whatever_the_login_and_the_database() {
    let same = |first: &str, second: &str| {
        let (first, second) = (address(first).unwrap(), address(second).unwrap());
        assert_eq!(first.same_place(&second), second.same_place(&first));
        first.same_place(&second)
    };
    assert!(same("redis://master:6379/0", "redis://me:pw@master/1"));
    assert!(same("redis://[::1]", "valkey://[0:0:0:0:0:0:0:1]:6379"));
    assert!(same("unix:///run/a.sock", "redis+unix:///run/a.sock?db=1"));
    assert!(!same("redis://master:6379", "redis://master:6380"));
    assert!(!same("redis://master-1", "redis://master-2"));
    assert!(!same("unix:///run/a.sock", "unix:///run/b.sock"));
    assert!(!same("unix:///run/a.sock", "redis://run"));
}

#[cfg(feature = "tls")]
mod encrypted {
    use super::*;

    #[test]
    fn a_rediss_url_uses_the_given_configuration_and_its_host() {
        let given = tls::insecure_config().unwrap();
        let info = "rediss://[::1]:6380".into_connection_info().unwrap();
        let address = Address::from_info(&info, Some(&TlsConfig::Fixed(given.clone()))).unwrap();
        assert_eq!(&*address.name, "[::1]:6380");
        let Transport::Tls { host, port, config } = &address.transport else { panic!("no TLS") };
        assert_eq!((host.as_str(), *port), ("::1", 6380));
        assert!(matches!(config, tls::Trust::Fixed(config) if Arc::ptr_eq(config, &given)));
        assert!(address.same_place(&super::address("redis://[::1]:6380").unwrap()));
    }

    #[test]
    fn insecure_is_taken_from_the_url_alone() {
        assert!(address("rediss://master/#insecure").is_ok());
        let info = "rediss://master/#insecure".into_connection_info().unwrap();
        let given = tls::insecure_config().unwrap();
        assert_eq!(
            Address::from_info(&info, Some(&TlsConfig::Fixed(given))).err().unwrap(),
            "\"#insecure\" contradicts tls_config and tls_ca_file: keep one of them"
        );
    }

    #[test]
    fn parameters_that_only_the_redis_crate_can_read_are_refused() {
        let nothing = redis::TlsCertificates { client_tls: None, root_cert: None };
        let client = redis::Client::build_with_tls("rediss://master", nothing).unwrap();
        let refusal = address(client.get_connection_info().clone()).err().unwrap();
        assert!(refusal.ends_with("hand the rustls configuration to tls_config instead"));
    }
}
