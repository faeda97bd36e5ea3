//! Random commands: mostly sensible, often wrong in one place, sometimes in all.

use super::CONNECTIONS;
use super::sorted_sets::on_sorted_set;
use super::vocabulary::{CHANNELS, COUNTS, FIELDS, KEYS, NUMBERS, RAW, SCRIPTS, VALUES};
use crate::support::seed::Rng;
use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug)]
pub(crate) enum Word {
    Bytes(Vec<u8>),
    /// The id of a pair's connection, which differs between the servers.
    IdOf(usize),
    /// A complete request, sent as it is.
    Raw(Vec<u8>),
}

impl<T: AsRef<[u8]> + ?Sized> From<&T> for Word {
    fn from(word: &T) -> Self {
        Self::Bytes(word.as_ref().to_vec())
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{}", bytes.escape_ascii()),
            Self::IdOf(pair) => write!(f, "<id of connection {pair}>"),
            Self::Raw(bytes) => write!(f, "<raw> {}", bytes.escape_ascii()),
        }
    }
}

pub(crate) enum Step {
    Send {
        on: usize,
        words: Vec<Word>,
        /// Other connections may have received something, or been closed.
        heard_by_all: bool,
    },
    Sleep(Duration),
}

pub(crate) struct Generator {
    rng: Rng,
    scripts: Vec<String>,
    planned: VecDeque<Step>,
}

impl Generator {
    pub(crate) fn new(rng: Rng) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("core/src/wire/scripts");
        let mut paths: Vec<_> = folder
            .read_dir()
            .expect("the crate's own scripts")
            .map(|entry| entry.expect("a script").path())
            .collect();
        paths.sort();
        let scripts: Vec<String> =
            paths.iter().map(|path| std::fs::read_to_string(path).expect("a script")).collect();
        assert!(scripts.len() >= 2, "the crate's own scripts have moved");
        Self { rng, scripts, planned: VecDeque::new() }
    }

    pub(crate) fn next_step(&mut self) -> Step {
        if let Some(step) = self.planned.pop_front() {
            return step;
        }
        let on = self.rng.within(0..CONNECTIONS as u64) as usize;
        if self.rng.chance(1) {
            self.plan_expiry();
        }
        if self.rng.chance(1) {
            self.plan_replica();
        }
        let words = self.command();
        let first = |word: &[u8]| words.first().is_some_and(|verb| is(verb, word));
        let heard_by_all =
            [&b"PUBLISH"[..], b"CLIENT", b"EVAL", b"EVALSHA"].iter().any(|word| first(word));
        Step::Send { on, words, heard_by_all }
    }

    /// Lets a key expire unseen, and then looks at it in several ways, so that it is collected.
    fn plan_expiry(&mut self) {
        let key = *self.rng.pick(&KEYS);
        let soon = self.rng.within(1..6).to_string();
        let on = self.rng.within(0..CONNECTIONS as u64) as usize;
        let send = |words: Vec<Word>| Step::Send { on, words, heard_by_all: false };
        self.planned.push_back(send(unsubscribe().map(Word::from).into()));
        self.planned.push_back(send(vec![Word::from("SELECT"), Word::from("0")]));
        // Or it is over as soon as it begins.
        let (option, end) = if self.rng.chance(30) { ("PXAT", "1") } else { ("PX", soon.as_str()) };
        let set = ["SET".as_ref(), key, b"short".as_ref(), option.as_bytes(), end.as_bytes()];
        self.planned.push_back(send(set.into_iter().map(Word::from).collect()));
        self.planned.push_back(Step::Sleep(Duration::from_millis(12)));
        for _ in 0..3 {
            let words = self.on_key(key);
            self.planned.push_back(send(words));
        }
        let get = ["GET".as_ref(), key];
        self.planned.push_back(send(get.into_iter().map(Word::from).collect()));
    }

    /// Makes it a replica for a while, of a master that does not exist.
    fn plan_replica(&mut self) {
        let send = |on: usize, words: Vec<Word>| Step::Send { on, words, heard_by_all: true };
        let port = self.rng.within(1..3).to_string();
        let mut follow = vec!["REPLICAOF", "127.0.0.1", port.as_str()];
        if self.rng.chance(20) {
            follow[2] = "x";
        }
        self.planned.push_back(send(0, follow.into_iter().map(Word::from).collect()));
        for _ in 0..self.rng.within(4..16) {
            let on = self.rng.within(0..CONNECTIONS as u64) as usize;
            let words = self.command();
            self.planned.push_back(send(on, words));
        }
        self.planned.push_back(send(0, ["REPLICAOF", "no", "One"].map(Word::from).into()));
        self.planned.push_back(send(0, ["INFO", "replication"].map(Word::from).into()));
    }

    fn command(&mut self) -> Vec<Word> {
        let key = *self.rng.pick(&KEYS);
        let mut words = match self.rng.within(0..100) {
            0..35 => self.on_key(key),
            35..46 => self.on_hash(key),
            46..60 => on_sorted_set(&mut self.rng, key),
            60..74 => self.script(key),
            74..81 => self.channels(),
            81..98 => self.connection(),
            _ => return vec![Word::Raw(self.rng.pick(&RAW).to_vec())],
        };
        self.spoil(&mut words);
        words
    }

    fn on_key(&mut self, key: &[u8]) -> Vec<Word> {
        let value = *self.rng.pick(&VALUES);
        let number = self.number();
        let other = *self.rng.pick(&KEYS);
        let at = self.moment(&number);
        let words: Vec<&[u8]> = match self.rng.within(0..15) {
            0 => vec![b"SET", key, value],
            1 | 2 => vec![b"SET", key, value, b"NX", b"PX", number.as_bytes()],
            3 => vec![b"SET", key, value, b"PX", number.as_bytes()],
            4 => vec![b"GET", key],
            5 => vec![b"DEL", key, other],
            6 => vec![b"EXISTS", key, other, key],
            7 | 8 => vec![b"PTTL", key],
            9 => vec![b"PEXPIRE", key, number.as_bytes()],
            10 => return self.own_script(key),
            11 => vec![b"TYPE", key],
            12 => vec![b"SET", key, value, b"nX", b"pxAT", at.as_bytes()],
            13 => vec![b"SET", key, value, b"px", b"5", b"pxAT", at.as_bytes()],
            _ => vec![b"DEL", key],
        };
        words.into_iter().map(Word::from).collect()
    }

    fn on_hash(&mut self, key: &[u8]) -> Vec<Word> {
        let (field, other) = (*self.rng.pick(&FIELDS), *self.rng.pick(&FIELDS));
        let value = *self.rng.pick(&VALUES);
        let words: Vec<&[u8]> = match self.rng.within(0..8) {
            0 => vec![b"HSET", key, field, value],
            1 | 2 => vec![b"HSET", key, field, value, other, b"2"],
            3 => vec![b"HSET", key, field, value, other],
            4 => vec![b"HGET", key, field],
            5 => vec![b"HDEL", key, field],
            6 => vec![b"HDEL", key, field, other, field],
            _ => vec![b"HGETALL", key],
        };
        words.into_iter().map(Word::from).collect()
    }

    fn number(&mut self) -> String {
        if self.rng.chance(70) {
            return self.rng.within(30_000..90_000).to_string();
        }
        (*self.rng.pick(&NUMBERS)).to_owned()
    }

    /// Returns a moment for SET, `number` ms ahead. Without a sensible number, it is an error: a key that
    /// ends in the past counts in DBSIZE until a command reads it.
    fn moment(&self, number: &str) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
        let ahead = number.parse().ok().filter(|ahead| (30_000..1 << 40).contains(ahead));
        let at = ahead.map(|ahead: u64| now.as_millis() as u64 + ahead);
        at.map_or_else(|| number.to_owned(), |at| at.to_string())
    }

    /// Sends what the crate itself sends to extend and release.
    fn own_script(&mut self, key: &[u8]) -> Vec<Word> {
        let script = self.rng.pick(&self.scripts).clone();
        if self.rng.chance(20) {
            let (token, ttl) =
                (*self.rng.pick(&VALUES), self.rng.within(30_000..90_000).to_string());
            return self.run(&script, &[key], &[token, ttl.as_bytes()]);
        }
        // Readers end far enough apart to be in the same order on both servers.
        let reader = self.rng.within(0..VALUES.len() as u64);
        let (token, ttl) = (VALUES[reader as usize], (30_000 + 7_000 * reader).to_string());
        let (readers, hint) = (*self.rng.pick(&KEYS), *self.rng.pick(&KEYS));
        self.run(&script, &[key, readers, hint], &[token, ttl.as_bytes(), b"0"])
    }

    fn script(&mut self, key: &[u8]) -> Vec<Word> {
        let (value, script) = (*self.rng.pick(&VALUES), *self.rng.pick(&SCRIPTS));
        let words: Vec<&str> = match self.rng.within(0..19) {
            0 => vec!["SCRIPT", "LOAD", script],
            1 => vec!["EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"],
            2 => vec!["SCRIPT", "FLUSH"],
            3 => vec!["EVALSHA", "abc", "0"],
            4 => vec!["EVAL", script, *self.rng.pick(&COUNTS)],
            5..11 => return self.own_script(key),
            _ => return self.run(script, &[key], &[value]),
        };
        words.into_iter().map(Word::from).collect()
    }

    /// Runs a script in full, or by its hash, loaded or not.
    fn run(&mut self, script: &str, keys: &[&[u8]], arguments: &[&[u8]]) -> Vec<Word> {
        let hash = redis::Script::new(script).get_hash().to_owned();
        // A hash hides from the comparison that the answer is a time.
        let by_hash = !script.contains("return redis.call('PTTL'") && self.rng.chance(40);
        let (command, script) = if by_hash { ("EVALSHA", hash.as_str()) } else { ("EVAL", script) };
        let count = keys.len().to_string();
        let mut words = vec![Word::from(command), Word::from(script), Word::from(&count)];
        words.extend(keys.iter().map(|key| Word::from(*key)));
        words.extend(arguments.iter().map(|argument| Word::from(*argument)));
        words
    }

    fn channels(&mut self) -> Vec<Word> {
        let (channel, other) = (*self.rng.pick(&CHANNELS), *self.rng.pick(&CHANNELS));
        let words = match self.rng.within(0..8) {
            0 => vec!["SUBSCRIBE", channel],
            1 => vec!["SUBSCRIBE", channel, other],
            2 => vec!["UNSUBSCRIBE", channel, other],
            3 | 4 => unsubscribe().into(),
            _ => vec!["PUBLISH", channel, "released"],
        };
        words.into_iter().map(Word::from).collect()
    }

    fn connection(&mut self) -> Vec<Word> {
        let number = self.number();
        let victim = self.rng.within(0..CONNECTIONS as u64) as usize;
        // The server forks for it.
        if self.rng.chance(1) {
            return ["CONFIG", "SET", "appendonly", "yes"].map(Word::from).into();
        }
        if self.rng.chance(6) {
            let kill = ["CLIENT", "KILL", "ID"].map(Word::from);
            return kill.into_iter().chain([Word::IdOf(victim)]).collect();
        }
        let all: [&[&str]; 77] = [
            &["HELLO"],
            &["HELLO", "2"],
            &["HELLO", "3"],
            &["HELLO", "3"],
            &["HELLO", "4"],
            &["HELLO", "3", "AUTH", "default", "pw", "SETNAME", "quorumlock"],
            &["HELLO", "3", "AUTH", "somebody", "pw"],
            &["HELLO", "3", "NOSUCH"],
            &["AUTH", "pw"],
            &["AUTH", "default", "pw"],
            &["AUTH", "somebody", "pw"],
            &["SELECT", "0"],
            &["SELECT", "0"],
            &["SELECT", "1"],
            &["SELECT", "x"],
            &["SELECT", "99"],
            &["PING"],
            &["PING", "a\r\nb"],
            &["CLIENT", "ID"],
            &["CLIENT", "KILL", "ID", &number],
            &["CLIENT", "KILL", "ID", "1000000", "NOSUCH"],
            &["CLIENT", "SETNAME", "somebody"],
            &["CLIENT", "NOSUCH"],
            &["CLIENT", "SETINFO", "LIB-NAME", "redis-rs"],
            &["INFO"],
            &["INFO", "server"],
            &["INFO", "replication"],
            &["INFO", "nosuch"],
            &["INFO", "memory"],
            &["INFO", "persistence", "nosuch", "Memory"],
            &["INFO", "replication", "server", "memory"],
            &["TIME"],
            &["KEYS", "*"],
            &["KEYS", "?"],
            &["SCAN", "0"],
            &["SCAN", "0", "COUNT", "1000"],
            &["SCAN", "0", "match", "*4?", "count", "1000"],
            &["SCAN", "0", "MATCH", "\\a*", "COUNT", "1000", "TYPE", "String"],
            &["SCAN", "0", "TYPE", "hash", "COUNT", "1000", "MATCH", "*"],
            &["SCAN", "0", "TYPE", "zset", "COUNT", "1000"],
            &["SCAN", "0", "MATCH", "?", "COUNT", "1000"],
            &["SCAN", "x"],
            &["SCAN", "0", "COUNT", "0"],
            &["SCAN", "0", "COUNT", "x"],
            &["SCAN", "0", "NOSUCH", "1"],
            &["PUBSUB", "NUMSUB"],
            &["PUBSUB", "NumSub", "freed:a", "freed:b"],
            &["PUBSUB", "NOSUCH"],
            &["DBSIZE"],
            &["FLUSHALL"],
            &["CONFIG", "GET", "maxmemory"],
            &["CONFIG", "GET", "maxmemory-policy"],
            &["CONFIG", "GET", "nosuch"],
            &["CONFIG", "GET", "append*"],
            &["CONFIG", "GET", "APPENDF?YN*", "appendfsync"],
            &["CONFIG", "GET", "appendfsync", "AppendF*"],
            &["CONFIG", "GET", "maxmemory*", "append*", "save"],
            &["CONFIG", "GET", "*nosuch*", "maxmemor??"],
            &["CONFIG", "SET", "maxmemory", "0"],
            &["CONFIG", "SET", "maxmemory", "200MB", "maxmemory-policy", "AllKeys-LRU"],
            &["CONFIG", "SET", "MaxMemory", "1gb"],
            &["CONFIG", "SET", "maxmemory", "300000k", "appendfsync", "nosuch"],
            &["CONFIG", "SET", "maxmemory", "1x"],
            &["CONFIG", "SET", "maxmemory", "-1"],
            &["CONFIG", "SET", "maxmemory", "0", "appendonly"],
            &["CONFIG", "SET", "maxmemory-policy", "noeviction"],
            &["CONFIG", "SET", "maxmemory-policy", "volatile-ttl"],
            &["CONFIG", "SET", "maxmemory-policy", "nosuch"],
            &["CONFIG", "SET", "appendfsync", "ALWAYS"],
            &["CONFIG", "SET", "appendfsync", "no"],
            &["CONFIG", "SET", "appendonly", "no"],
            &["CONFIG", "SET", "no-appendfsync-on-rewrite", "Yes"],
            &["CONFIG", "SET", "no-appendfsync-on-rewrite", "no"],
            &["CONFIG", "SET", "nosuch", "b"],
            &["CONFIG", "SET", "appendonly", "maybe"],
            &["REPLICAOF", "127.0.0.1", "99999"],
            &["REPLICAOF", "NO", "ONE"],
        ];
        self.rng.pick(&all).iter().map(|word| Word::from(*word)).collect()
    }

    /// Now and then adds or removes a word, uses an unknown name, or changes case at random.
    fn spoil(&mut self, words: &mut Vec<Word>) {
        if words.iter().any(|word| matches!(word, Word::IdOf(_))) {
            return;
        }
        match self.rng.within(0..100) {
            0..2 => words.push(Word::from("NOSUCH")),
            2..4 if words.len() > 1 => drop(words.pop()),
            4..6 => words[0] = Word::from("NO\r\nSUCH"),
            6..30 => {
                let flips = self.rng.next();
                if let Word::Bytes(name) = &mut words[0] {
                    for (place, letter) in name.iter_mut().enumerate() {
                        if flips >> (place % 64) & 1 == 1 {
                            letter.make_ascii_lowercase();
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// Leaves all channels.
const fn unsubscribe() -> [&'static str; 4] {
    ["UNSUBSCRIBE", CHANNELS[0], CHANNELS[1], CHANNELS[2]]
}

fn is(word: &Word, name: &[u8]) -> bool {
    matches!(word, Word::Bytes(bytes) if bytes.eq_ignore_ascii_case(name))
}
