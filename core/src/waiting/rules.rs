//! What an acquire that waits does next, by how it waits and what it learns. A list gives no vote: it says which client
//! tries next. `proof/model/src/line` explores these rules.

/// How an acquire waits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wait {
    /// Its attempt begins once there is room for it, or the masters have confirmed its settings.
    HeldUp,
    /// It lets others go first for a moment.
    StepsBack,
    /// It has no place in a list.
    Alone,
    /// Its question has no answer yet.
    Asking,
    /// It has a place, and others are ahead.
    Behind,
    /// It has a place, and no other waiter is ahead.
    First,
    /// It was let go too early, and is to try again.
    Again,
    /// Its attempt is under way.
    Trying,
    /// The same, and it has been called since the attempt began.
    Called,
}

/// What it learns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// A message calls it, or the answer to its question does.
    Called,
    /// A message says that the resource is free.
    Freed,
    /// Messages come from now on.
    Listens,
    /// What it knows of its place may be wrong.
    Look,
    /// Its list is at another master.
    Moved,
    /// Its pause is over.
    Due,
    /// The same, and it has asked no other master for long, or there is no list for it.
    DueAtAll,
    /// A quorum has not granted.
    Refused,
    /// The same, and the master of its list has not refused.
    RefusedEarly,
}

/// What it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Does {
    Nothing,
    /// Asks in its list.
    Ask,
    /// Asks all masters for the resource.
    Try,
    /// Goes on as if its pause were over.
    GoOn,
    /// Tries again if its attempt is refused.
    Remember,
}

/// Returns what follows.
pub const fn next(wait: Wait, news: News) -> Does {
    use Wait::{Again, Alone, Asking, Behind, Called, First, StepsBack, Trying};
    match (news, wait) {
        (News::Called | News::Freed | News::Listens, Trying | Called) => Does::Remember,
        (News::Freed | News::Listens, Alone) => Does::GoOn,
        (News::Called, Alone | Asking | Behind | First | Again)
        | (News::Freed, First)
        | (News::Due, Asking | Again)
        | (News::DueAtAll, StepsBack | Alone | Asking | Behind | First | Again)
        | (News::RefusedEarly, Called) => Does::Try,
        (News::Freed | News::Listens | News::Look, Behind | First | Again)
        | (News::Due, StepsBack | Alone | Behind | First)
        | (News::Moved, StepsBack | Alone | Asking | Behind | First | Again)
        | (News::Refused, Trying | Called) => Does::Ask,
        _ => Does::Nothing,
    }
}
