//! Messages about the receipt printer.

use super::body::{RefusalBody, fixed};
use crate::language::Language;
use crate::mall::PrinterRefusal;

/// Returns the message of a refusal: what is wrong, and what to do.
pub(super) fn of_refusal(refusal: PrinterRefusal, l: Language) -> RefusalBody {
    match refusal {
        PrinterRefusal::NoPrinter => fixed!(
            l,
            "NO_PRINTER",
            "商城没有设置小票打印机：启动时请加--printer",
            "This mall has no receipt printer; start it with --printer."
        ),
        PrinterRefusal::Busy => fixed!(
            l,
            "PRINTER_BUSY",
            "打印机正忙，没有打印，请稍后再试",
            "The printer is busy and printed nothing; try again in a moment."
        ),
        PrinterRefusal::Refused => fixed!(
            l,
            "PRINTER_REFUSED",
            "连不上打印机：请检查打印机是否开机、--printer的地址和端口是否正确",
            "The printer refuses connections; check that it is on, and address and port of --printer."
        ),
        PrinterRefusal::Silent => fixed!(
            l,
            "PRINTER_SILENT",
            "打印机没有响应：请检查电源、网线和--printer的地址",
            "The printer does not respond; check its power, its cable, and the address of --printer."
        ),
        PrinterRefusal::Slow => fixed!(
            l,
            "PRINTER_SLOW",
            "打印机停在半途，小票可能不完整：请检查纸和机盖，再重新打印",
            "The printer stopped half-way and the page may be incomplete; check paper and cover, then print again."
        ),
        PrinterRefusal::Closed => fixed!(
            l,
            "PRINTER_CLOSED",
            "打印时连接中断，小票可能不完整：请检查打印机，再重新打印",
            "The connection broke while printing and the page may be incomplete; check the printer, then print again."
        ),
        PrinterRefusal::NoDevice => fixed!(
            l,
            "PRINTER_MISSING",
            "找不到打印机设备：请检查是否开机、数据线是否插好、--printer的路径是否正确",
            "There is no such device; check that the printer is on, its cable, and the path of --printer."
        ),
        PrinterRefusal::NoPermission => fixed!(
            l,
            "PRINTER_FORBIDDEN",
            "商城无权使用打印机设备：请把运行商城的账号加入设备所属的组（通常是lp）",
            "The mall may not write to the printer's device; add its account to the device's group, often lp."
        ),
        PrinterRefusal::Full => fixed!(
            l,
            "PRINTER_FULL",
            "打印机设备或磁盘已满：USB打印机请检查是否缺纸，文件请清理磁盘",
            "The device or the disk is full; check the paper of a USB printer, or free space for a file."
        ),
        PrinterRefusal::OutOfPaper => fixed!(
            l,
            "PRINTER_OUT_OF_PAPER",
            "打印机缺纸：请换上纸卷，再重新打印",
            "The printer is out of paper; insert a roll, then print again."
        ),
        PrinterRefusal::CoverOpen => fixed!(
            l,
            "PRINTER_COVER_OPEN",
            "打印机的机盖没有合上：请合上机盖，再重新打印",
            "The printer's cover is open; close it, then print again."
        ),
        PrinterRefusal::Failed => fixed!(
            l,
            "PRINTER_FAILED",
            "打印失败，原因见商城的日志",
            "Printing failed; the mall's log has the cause."
        ),
    }
}
