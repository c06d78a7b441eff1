//! Receipts on paper: an ESC/POS printer in the network or at a device.
//!
//! Reasons: `src/decisions/0084-receipts-on-paper.md`.

mod address;
mod cash_pages;
mod characters;
mod commands;
mod device;
mod job_error;
mod network;
mod options;
mod pages;
mod printer;
mod status;

use mallbox_storage::OrderId;
use serde_json::json;

use crate::language::Language;
use crate::mall::base::{
    AuditLog, AuditedAction, By, Context, Failure, PrinterRefusal, Refusal, run_audited,
};
use crate::mall::operator::cash::{XReport, ZReport};
use crate::mall::selling::Receipts;

pub use self::address::{PrinterAddress, PrinterAddressError};
pub use self::options::{PaperColumns, PrinterOptions};
pub use self::printer::{JOB_TIMEOUT, LastJob, Printer, TURN_TIMEOUT};

/// The operators' service for the receipt printer. Cheap to clone.
#[derive(Clone)]
pub struct PrinterAdmin {
    context: Context,
    receipts: Receipts,
    audit: AuditLog,
    printer: Option<Printer>,
}

impl PrinterAdmin {
    /// Creates the service; without `printer` it refuses to print.
    #[must_use]
    pub fn new(
        context: Context,
        receipts: Receipts,
        audit: AuditLog,
        printer: Option<PrinterOptions>,
    ) -> Self {
        Self { context, receipts, audit, printer: printer.map(Printer::new) }
    }

    /// Returns the printer of this process, if there is one.
    #[must_use]
    pub fn printer(&self) -> Option<&Printer> {
        self.printer.as_ref()
    }

    /// Prints the receipt of a paid order, in one language. A repeat prints it again.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`] for an order that is not paid, or used or refunded since;
    /// [`Refusal::NotFound`]; [`Refusal::Printer`] if nothing or only a part was printed; [`Failure::Store`]
    /// if the store fails.
    pub async fn print_receipt(&self, by: By, order: OrderId, l: Language) -> Result<(), Failure> {
        let printer = self.configured()?;
        let receipt = self.receipts.of_paid(order, by.at).await?;
        let job = pages::receipt(&receipt, printer.options(), (by.at, &self.context.zone), l);
        self.print(by, "receipt.print", format!("order {order}"), Some(order), job).await
    }

    /// Prints a page that shows whether paper, characters and QR codes are right, in one language.
    ///
    /// # Errors
    /// [`Refusal::Printer`] if nothing or only a part was printed; [`Failure::Store`] if the store fails.
    pub async fn print_test_page(&self, by: By, l: Language) -> Result<(), Failure> {
        let printer = self.configured()?;
        let job = pages::trial(printer.options(), (by.at, &self.context.zone), l);
        self.print(by, "printer.test", "printer".to_owned(), None, job).await
    }

    /// Prints an X report, in one language.
    ///
    /// # Errors
    /// [`Refusal::Printer`] if nothing or only a part was printed; [`Failure::Store`] if the store fails.
    pub async fn print_x(&self, by: By, x: &XReport, l: Language) -> Result<(), Failure> {
        let printer = self.configured()?;
        let job = cash_pages::x_report(x, printer.options(), (by.at, &self.context.zone), l);
        self.print(by, "cash.print", format!("cash session {}", x.session.id), None, job).await
    }

    /// Prints a Z report, in one language.
    ///
    /// # Errors
    /// [`Refusal::Printer`] if nothing or only a part was printed; [`Failure::Store`] if the store fails.
    pub async fn print_z(&self, by: By, z: &ZReport, l: Language) -> Result<(), Failure> {
        let printer = self.configured()?;
        let job = cash_pages::z_report(z, printer.options(), (by.at, &self.context.zone), l);
        self.print(by, "cash.print", format!("Z report {}", z.report.number), None, job).await
    }

    fn configured(&self) -> Result<&Printer, Refusal> {
        self.printer.as_ref().ok_or(Refusal::Printer(PrinterRefusal::NoPrinter))
    }

    async fn print(
        &self,
        by: By,
        action: &'static str,
        subject: String,
        order: Option<OrderId>,
        job: Vec<u8>,
    ) -> Result<(), Failure> {
        let printer = self.configured()?.clone();
        let detail = json!({ "printer": printer.options().address.to_string() });
        run_audited(&self.audit, by, AuditedAction { action, subject, detail }, async move {
            let outcome = printer.print(job).await;
            printer.set_last(LastJob { at: by.at, order, outcome });
            outcome.map_err(|refusal| Refusal::Printer(refusal).into())
        })
        .await
    }
}
