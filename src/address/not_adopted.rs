//! The settings of a `ConnectionInfo` that a connection of ours would not have.

use redis::ConnectionInfo;
use redis::io::tcp::TcpSettings;

/// Returns an error that names the setting, and what to do instead. The protocol does not matter here,
/// `TCP_NODELAY` is always set, and the name of a library is never sent.
pub(super) fn check(info: &ConnectionInfo) -> Result<(), String> {
    let settings = info.redis_settings();
    if settings.lib_name().is_some() || settings.lib_ver().is_some() {
        return Err(LIB_NAME.into());
    }
    match tcp_setting(info.tcp_settings()) {
        Some(setting) => Err(format!(
            "the TCP setting {setting} of a redis::ConnectionInfo is not adopted, since the client detects \
             dead connections by settings of its own: leave it out, or also set it on a stream of your \
             own, with RedlockBuilder::node_with_connector"
        )),
        None => Ok(()),
    }
}

/// Returns the name of a setting that would not be adopted.
fn tcp_setting(settings: &TcpSettings) -> Option<&'static str> {
    if settings.keepalive().is_some() {
        return Some("keepalive");
    }
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    if settings.user_timeout().is_some() {
        return Some("user_timeout");
    }
    // The crate has no method that reads this one, but its Debug shows all of them.
    let shown = |settings: TcpSettings| format!("{:?}", settings.set_nodelay(true));
    (shown(settings.clone()) != shown(TcpSettings::default())).then_some("linger_time")
}

const LIB_NAME: &str = "the library name of a redis::ConnectionInfo is not sent to masters: leave \
                        set_lib_name out, and name the client with RedlockBuilder::label";
