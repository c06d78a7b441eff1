//! Argon2id in reused memory.
//!
//! A hash needs 19 MiB. With a fresh allocation per hash, the allocator keeps that memory for each thread
//! that ever ran a hash: 64 concurrent logins left 731 MiB behind. With reuse, memory is one buffer per
//! concurrent hash.

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use parking_lot::Mutex;

/// Hashes and verifies. Keeps as many buffers as calls ever ran at the same time.
#[derive(Debug, Default)]
pub(super) struct Argon {
    /// Idle buffers of [`Params::DEFAULT`].
    free: Mutex<Vec<Vec<Block>>>,
}

impl Argon {
    /// Hashes a password with the current parameters.
    pub(super) fn hash(&self, password: &[u8], salt: &[u8]) -> argon2::password_hash::Result<PasswordHash> {
        let (algorithm, version) = (Algorithm::default(), Version::default());
        let output = self.output(password, salt, (algorithm, version, Params::DEFAULT))?;
        Ok(PasswordHash {
            algorithm: algorithm.ident(),
            version: Some(version.into()),
            params: ParamsString::try_from(&Params::DEFAULT)?,
            salt: Some(Salt::new(salt)?),
            hash: Some(output),
        })
    }

    /// Verifies a password against a hash with any parameters. The comparison runs in constant time.
    pub(super) fn is_of(&self, password: &[u8], hash: &PasswordHash) -> bool {
        let (Some(salt), Some(expected)) = (&hash.salt, &hash.hash) else { return false };
        let Ok(algorithm) = Algorithm::try_from(hash.algorithm.as_str()) else { return false };
        let Ok(version) = hash.version.map_or(Ok(Version::default()), Version::try_from) else {
            return false;
        };
        let Ok(params) = Params::try_from(hash) else { return false };
        self.output(password, salt, (algorithm, version, params)).is_ok_and(|output| output == *expected)
    }

    fn output(
        &self,
        password: &[u8],
        salt: &[u8],
        (algorithm, version, params): (Algorithm, Version, Params),
    ) -> argon2::password_hash::Result<Output> {
        let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
        let mut bytes = [0; Output::MAX_LENGTH];
        let output = bytes.get_mut(..length).ok_or(argon2::password_hash::Error::OutputSize)?;
        let blocks = params.block_count();
        let argon = Argon2::new(algorithm, version, params);
        self.in_memory(blocks, |memory| {
            argon.hash_password_into_with_memory(password, salt, output, memory)
        })?;
        Ok(Output::new(output)?)
    }

    /// Runs `work` with a reused buffer. Hashes from an import that need more memory than the current
    /// parameters get a temporary buffer.
    fn in_memory<T>(&self, blocks: usize, work: impl FnOnce(&mut [Block]) -> T) -> T {
        let usual = Params::DEFAULT.block_count();
        if blocks > usual {
            return work(&mut vec![Block::new(); blocks]);
        }
        let free = self.free.lock().pop();
        let mut memory = free.unwrap_or_else(|| vec![Block::new(); usual]);
        let done = work(&mut memory);
        self.free.lock().push(memory);
        done
    }
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};

    use super::*;

    #[test]
    fn used_memory_makes_the_same_hashes_as_fresh_memory() {
        let (argon, salt) = (Argon::default(), [7; 16]);
        for password in ["correct horse", "correct horsf", "八个汉字也是密码"].map(str::as_bytes) {
            let hash = argon.hash(password, &salt).unwrap();
            assert_eq!(hash, Argon2::default().hash_password_with_salt(password, &salt).unwrap());
            assert!(argon.is_of(password, &hash) && !argon.is_of(b"another", &hash));
            assert!(Argon2::default().verify_password(password, &hash).is_ok());
        }
        assert_eq!(argon.free.lock().len(), 1, "one after the other they need one buffer");
    }

    #[test]
    fn a_hash_of_another_cost_is_verified_in_memory_of_its_own() {
        let argon = Argon::default();
        for m_cost in [8, 20 * 1024] {
            let params = Params::new(m_cost, 1, 1, None).unwrap();
            let other = Argon2::new(Algorithm::Argon2i, Version::V0x13, params);
            let hash = other.hash_password_with_salt(b"correct horse", &[1; 16]).unwrap();
            assert!(argon.is_of(b"correct horse", &hash) && !argon.is_of(b"correct horsf", &hash));
        }
        assert!(argon.free.lock().iter().all(|memory| memory.len() == Params::DEFAULT.block_count()));
    }
}
