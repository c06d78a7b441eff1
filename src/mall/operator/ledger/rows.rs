//! Names of failed [`RowCheck`]s.

use mallbox_storage::RowCheck;

use super::code::Code;
use super::object::Kind;

/// Returns the code, the kind of object, and the expectation.
pub(super) fn describe(check: RowCheck) -> (Code, Kind, &'static str) {
    use RowCheck as R;
    match check {
        R::UserRights => (Code::UserRights, Kind::User, "a known role, and a reason for each block"),
        R::DeletedUser => (Code::DeletedUser, Kind::User, "an account without personal data"),
        R::CardUser => (Code::CardUser, Kind::User, "an existing user"),
        R::ShopType => (Code::ShopType, Kind::Shop, "an existing type"),
        R::VoucherShop => (Code::VoucherShop, Kind::Voucher, "an existing shop"),
        R::VoucherValues => (Code::VoucherValues, Kind::Voucher, "a price and status that a mall writes"),
        R::SaleVoucher => (Code::SaleVoucher, Kind::Sale, "an existing voucher"),
        R::SaleLimit => (Code::SaleLimit, Kind::Sale, "initial units and stock, or neither"),
        R::StockChange => (Code::StockChange, Kind::StockChange, "a sale, and no more than was asked for"),
        R::OrderListed => (Code::OrderListed, Kind::Order, "an entry in its user's list, and no other"),
        R::PurchaseOrder => (Code::PurchaseOrder, Kind::Order, "an order of the same user and voucher"),
        R::OutboxOrder => (
            Code::OutboxOrder,
            Kind::Order,
            "a closed order of a sale, or a dead letter that is voided or a double",
        ),
        R::CashEntry => (
            Code::CashEntry,
            Kind::CashEntry,
            "an order paid or refunded at the counter for this amount at this time, or a reason",
        ),
        R::CashSession => {
            (Code::CashSession, Kind::CashSession, "the sums of its entries, and a Z report once closed")
        }
        R::WaitingEntry => {
            (Code::WaitingEntry, Kind::WaitingEntry, "a user, a sale, and the order of a promotion")
        }
        R::SaleWaiting => (Code::SaleWaiting, Kind::Sale, "no claims while users wait"),
        R::NoteUser => (Code::NoteUser, Kind::Note, "an existing user"),
        R::NoteStatus => (Code::NoteStatus, Kind::Note, "a known status"),
        R::NoteComments => (Code::NoteComments, Kind::Note, "the number of its comments"),
        R::NoteLikes => (Code::Likes, Kind::Note, "the number of its likes"),
        R::NotePicture => (Code::NotePicture, Kind::Picture, "an existing note"),
        R::CommentNote => (Code::CommentNote, Kind::Comment, "an existing note"),
        R::CommentUser => (Code::CommentUser, Kind::Comment, "an existing user"),
        R::CommentParent => (Code::CommentParent, Kind::Comment, "a comment of the same note above it"),
        R::CommentStatus => (Code::CommentStatus, Kind::Comment, "a known status"),
        R::CommentLikes => (Code::Likes, Kind::Comment, "the number of its likes"),
        R::Like => (Code::LikeTarget, Kind::Like, "an existing user and note or comment"),
        R::Follow => (Code::FollowUser, Kind::Follow, "two existing users"),
        R::AuthorUser => (Code::FollowUser, Kind::User, "an existing user"),
        R::Report => (Code::ReportTarget, Kind::Report, "an existing user and note, comment or review"),
        R::Review => {
            (Code::Review, Kind::Review, "an existing author and shop, and values that a mall writes")
        }
        R::ReviewOrder => (Code::ReviewOrder, Kind::Review, "a used order of its author at its shop"),
        R::ReviewPicture => (Code::ReviewPicture, Kind::Picture, "an existing review"),
        R::ShopReviews => (Code::ShopReviews, Kind::Shop, "number and stars of its reviews"),
        R::ShopScore => {
            (Code::ShopScore, Kind::Shop, "the mean and number of its reviews and those imported")
        }
        R::VoteLine => (Code::VoteLine, Kind::VoteLine, "the line before it, and the sum after it"),
        R::VoteTwice => (Code::VoteTwice, Kind::VoteLine, "one vote per user"),
        R::VoteSum => (Code::VoteSum, Kind::Review, "the sum of its newest vote line"),
        R::VoteMark => (Code::VoteMark, Kind::VoteMark, "a vote that counts"),
        R::RetryTotals => (Code::RetryTotals, Kind::RetryKind, "numbers and bytes of its tasks"),
        R::RetryTask => (Code::RetryTask, Kind::RetryTask, "a kind, and its turn in its group"),
        R::Picture => (Code::Picture, Kind::Picture, "an owner, and as many bytes as it says"),
        R::PictureContent => (Code::Picture, Kind::Picture, "an existing picture"),
        R::AuditUser => (Code::AuditUser, Kind::AuditEntry, "an existing user"),
        R::CreditUser => (Code::CreditUser, Kind::CreditLine, "a user with a card"),
        R::CreditSum => (Code::CreditSum, Kind::User, "the sum of its credit lines"),
        R::CreditLine => (Code::CreditLine, Kind::CreditLine, "the line before it, and the sum after it"),
        R::CreditOrder => (
            Code::CreditOrder,
            Kind::CreditLine,
            "a paid or used order of the user, or a refunded order whose credits went back",
        ),
        R::SignInUser => (Code::SignInUser, Kind::SignIn, "existing users, and days made up that are signed"),
    }
}
