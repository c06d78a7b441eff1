//! The files of a kiosk: its unit, the browser's policy, and the hardware watchdog.

use serde_json::json;

use super::address::Page;

/// The account of the browser.
pub(super) const ACCOUNT: &str = "mallbox-kiosk";
/// The unit.
pub(super) const UNIT: &str = "mallbox-kiosk.service";
/// Directory of the browser's profile, which systemd makes for the account.
pub(super) const STATE_DIR: &str = "/var/lib/mallbox-kiosk";
/// The key of a trusted kiosk.
pub(super) const KEY: &str = "/etc/mallbox-kiosk/key";

/// A file with its content.
pub(super) struct KioskFile {
    pub(super) path: &'static str,
    pub(super) content: String,
}

/// Returns all files, in the order in which they are written: the unit is last, since it needs the others.
pub(super) fn of(page: &Page) -> [KioskFile; 3] {
    [
        KioskFile { path: "/etc/systemd/system.conf.d/mallbox-kiosk.conf", content: WATCHDOG.to_owned() },
        KioskFile { path: "/etc/chromium/policies/managed/mallbox-kiosk.json", content: policy(page) },
        KioskFile { path: "/etc/systemd/system/mallbox-kiosk.service", content: unit(page) },
    ]
}

/// 15 s is the longest time of some watchdogs of small computers.
const WATCHDOG: &str = "\
# The computer starts again if its kernel or its systemd has not responded for this time: a hardware
# watchdog, where there is one. In force after the next start.
[Manager]
RuntimeWatchdogSec=15s
";

/// What chromium may do, by the names of its policies.
///
/// Some remain reachable without a keyboard: links in notes, dialogs of the print preview, long presses.
fn policy(page: &Page) -> String {
    let policy = json!({
        "URLBlocklist": ["*"],
        "URLAllowlist": [allowed(&page.origin)],
        "ForcedLanguages": [page.language],

        "AllowFileSelectionDialogs": false,
        "DeveloperToolsAvailability": 2,
        "DownloadRestrictions": 3,
        "ExtensionInstallBlocklist": ["*"],
        "IncognitoModeAvailability": 1,
        "BrowserGuestModeEnabled": false,
        "BrowserAddPersonEnabled": false,
        "BrowserSignin": 0,
        "SyncDisabled": true,

        "AutofillAddressEnabled": false,
        "AutofillCreditCardEnabled": false,
        "PasswordManagerEnabled": false,
        "SearchSuggestEnabled": false,
        "SpellcheckEnabled": false,
        "TranslateEnabled": false,
        "PromotionsEnabled": false,
        "DefaultBrowserSettingEnabled": false,

        // A question of the browser would cover the page.
        "AudioCaptureAllowed": false,
        "VideoCaptureAllowed": false,
        "ScreenCaptureAllowed": false,
        "DefaultGeolocationSetting": 2,
        "DefaultNotificationsSetting": 2,
        "DefaultPopupsSetting": 2,

        // The computer asks nobody but the mall.
        "BackgroundModeEnabled": false,
        "ComponentUpdatesEnabled": false,
        "MetricsReportingEnabled": false,
        "NetworkPredictionOptions": 2,
        "SafeBrowsingProtectionLevel": 0,

        // Without a printer, the browser would show a preview that never ends.
        "PrintingEnabled": page.prints,
        "PrintHeaderFooter": false,
        "PrintPreviewUseSystemDefaultPrinter": true,
    });
    format!("{policy:#}\n")
}

/// Returns the entry of `URLAllowlist`: a dot before a host's name excludes names below it.
fn allowed(origin: &str) -> String {
    match origin.split_once("://") {
        Some((scheme, host)) if host.contains('.') && host.contains(|c: char| c.is_ascii_alphabetic()) => {
            format!("{scheme}://.{host}")
        }
        _ => origin.to_owned(),
    }
}

/// Flags of the browser.
///
/// - `--password-store=basic`: no service for keys runs here, and none is asked for.
/// - `--hide-crash-restore-bubble`: after a power cut the browser would offer its former pages.
/// - `--disk-cache-size`: 50 MiB, as small computers write to cards.
/// - `--kiosk-printing`: prints on the default printer without a dialog.
const FLAGS: [&str; 11] = [
    "--kiosk",
    "--kiosk-printing",
    "--ozone-platform=wayland",
    "--user-data-dir=/var/lib/mallbox-kiosk/chromium",
    "--disk-cache-size=52428800",
    "--password-store=basic",
    "--no-first-run",
    "--noerrdialogs",
    "--hide-crash-restore-bubble",
    "--overscroll-history-navigation=0",
    "--disable-pinch",
];

/// The unit. A plain address has no character that systemd reads as something else.
fn unit(page: &Page) -> String {
    let (address, flags) = (&page.address, FLAGS.join(" \\\n    "));
    format!(
        "\
# The screen of a kiosk: {address}
# Further settings belong into a file beside this one: sudo systemctl edit {UNIT}

[Unit]
Description=mallbox: the screen of a kiosk
Documentation=man:mallbox-kiosk(1)
After=mallbox.service mallbox.socket network-online.target
After=systemd-user-sessions.service systemd-logind.service dbus.socket plymouth-quit-wait.service
Wants=network-online.target systemd-logind.service dbus.socket
# The screen is the kiosk's alone.
Conflicts=getty@tty1.service display-manager.service
After=getty@tty1.service display-manager.service
ConditionPathExists=/dev/tty0
# Tried again for ever: nobody is there to do it.
StartLimitIntervalSec=0

[Service]
User={ACCOUNT}
Group={ACCOUNT}
SupplementaryGroups=video render
# logind hands out the screen and the input devices with a session on this terminal.
PAMName=login
TTYPath=/dev/tty1
TTYReset=yes
TTYVHangup=yes
TTYVTDisallocate=yes
StandardInput=tty-fail
StandardOutput=journal
StandardError=journal
UtmpIdentifier=tty1
UtmpMode=user
StateDirectory=mallbox-kiosk
StateDirectoryMode=0700
# cage ends without an X server, and needs none: it starts one for the first X client only.
Environment=WLR_XWAYLAND=/bin/false
# A touch screen may be connected later.
Environment=WLR_LIBINPUT_NO_DEVICES=1
# A lock of another host's name, or of a killed browser. As root, since each command has a session otherwise.
ExecStartPre=+-/bin/rm -f {STATE_DIR}/chromium/SingletonLock {STATE_DIR}/chromium/SingletonSocket
ExecStart=/usr/bin/cage -d -s -- \\
    /usr/bin/mallbox kiosk watch --key {KEY} {address} -- \\
    /usr/bin/chromium \\
    {flags}
# The session's processes are not the unit's: a browser that hangs would keep the profile.
ExecStopPost=+-/usr/bin/loginctl kill-user --signal=KILL {ACCOUNT}
Restart=always
RestartSec=3
TimeoutStopSec=10

# Without RestrictNamespaces=, PrivateUsers= and MemoryDenyWriteExecute=: chromium makes namespaces for its
# sandbox, and code at run time. Without PrivateDevices=: the screen is a device.
CapabilityBoundingSet=
AmbientCapabilities=
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=-/run/user
# In place of ProtectHome=, which hides /run/user.
InaccessiblePaths=-/home -/root -/etc/mallbox -/var/lib/mallbox
PrivateTmp=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
UMask=0077

[Install]
WantedBy=multi-user.target
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_below_the_malls_host_are_not_allowed() {
        for (origin, want) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://localhost:8080", "http://localhost:8080"),
            ("https://mall.example.com", "https://.mall.example.com"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(allowed(origin), want);
        }
    }
}
