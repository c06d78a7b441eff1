//! In-memory login codes for visitors of the demo.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use mallbox_storage::Phone;
use parking_lot::Mutex;

use super::{Sms, SmsError, SmsSender};

/// The last code of each phone, for `GET /demo/inbox`. Used only in `demo` and `fixture`.
#[derive(Default)]
pub struct Inbox {
    kept: Mutex<Kept>,
}

impl Clone for Inbox {
    /// Returns an independent inbox with the same codes.
    fn clone(&self) -> Self {
        Self { kept: Mutex::new(self.kept.lock().clone()) }
    }
}

#[derive(Clone, Default)]
struct Kept {
    codes: HashMap<Phone, (u64, String)>,
    /// Phones by the sequence number of their last code, to evict the oldest first.
    order: BTreeMap<u64, Phone>,
    received: u64,
}

impl Inbox {
    /// Maximum number of phones, more than a benchmark logs in; about 15 MB.
    const PHONES_MAX: usize = 65_536;

    /// Returns the last code sent to a phone, used or not.
    #[must_use]
    pub fn last(&self, phone: &Phone) -> Option<String> {
        self.kept.lock().codes.get(phone).map(|(_, code)| code.clone())
    }

    /// Returns the last code of each phone, newest first.
    #[must_use]
    pub fn newest(&self) -> Vec<(Phone, String)> {
        let kept = self.kept.lock();
        let phones = kept.order.values().rev();
        phones.filter_map(|phone| Some((phone.clone(), kept.codes.get(phone)?.1.clone()))).collect()
    }
}

impl Kept {
    fn put(&mut self, phone: &Phone, code: &str) {
        self.received += 1;
        if let Some((earlier, _)) = self.codes.insert(phone.clone(), (self.received, code.to_owned())) {
            self.order.remove(&earlier);
        }
        self.order.insert(self.received, phone.clone());
        if self.order.len() > Inbox::PHONES_MAX
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.codes.remove(&oldest);
        }
    }
}

#[async_trait]
impl SmsSender for Inbox {
    async fn send(&self, sms: &Sms) -> Result<(), SmsError> {
        self.kept.lock().put(&sms.phone, &sms.code);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phone(text: &str) -> Phone {
        Phone::parse(text).unwrap()
    }

    #[tokio::test]
    async fn inbox_drops_the_oldest_when_it_is_full() {
        let inbox = Inbox::default();
        let nth = |n: usize| phone(&format!("139{n:08}"));
        let sms = |n, code: &str| Sms { phone: nth(n), code: code.to_owned(), key: String::new() };
        for n in 0..Inbox::PHONES_MAX {
            inbox.send(&sms(n, "111111")).await.unwrap();
        }
        inbox.send(&sms(0, "222222")).await.unwrap();
        inbox.send(&sms(Inbox::PHONES_MAX, "333333")).await.unwrap();
        assert_eq!(inbox.last(&nth(0)).as_deref(), Some("222222"));
        assert_eq!(inbox.last(&nth(1)), None, "the one that had waited longest");
        let newest = inbox.newest();
        assert_eq!(newest[0], (nth(Inbox::PHONES_MAX), "333333".to_owned()));
        assert_eq!(newest[1], (nth(0), "222222".to_owned()));
        assert_eq!(newest.len(), Inbox::PHONES_MAX);
        assert_eq!(inbox.clone().newest(), newest);
        assert_eq!(inbox.kept.lock().codes.len(), Inbox::PHONES_MAX);
        assert_eq!(inbox.kept.lock().order.len(), Inbox::PHONES_MAX);
    }
}
