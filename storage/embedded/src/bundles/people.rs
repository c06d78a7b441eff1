//! The ports of people: the database, and codes and sessions in the journal.

use std::sync::Arc;

use mallbox_storage::PeoplePorts;

use crate::codes::EmbeddedCodes;
use crate::sessions::EmbeddedSessions;
use crate::sqlite::{
    Database, EmbeddedCredits, EmbeddedFollows, EmbeddedPersonalData, EmbeddedSecondFactors, EmbeddedSignIns,
    EmbeddedUsers, EmbeddedVisitors,
};

/// Creates the ports over codes, sessions and sign-ins that are loaded.
pub(crate) fn ports(
    database: &Database,
    codes: Arc<EmbeddedCodes>,
    sessions: Arc<EmbeddedSessions>,
    sign_ins: EmbeddedSignIns,
) -> PeoplePorts {
    PeoplePorts {
        users: Arc::new(EmbeddedUsers::new(database.clone())),
        credits: Arc::new(EmbeddedCredits::new(database.clone())),
        codes,
        sessions,
        second_factors: Arc::new(EmbeddedSecondFactors::new(database.clone())),
        follows: Arc::new(EmbeddedFollows::new(database.clone())),
        sign_ins: Arc::new(sign_ins),
        visitors: Arc::new(EmbeddedVisitors::new(database.clone())),
        personal_data: Arc::new(EmbeddedPersonalData::new(database.clone())),
    }
}
