//! Packages for tests in other languages: each is built from the static binary, installed from its file into
//! a new project, and runs the example of its README there.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;

use crate::command::succeed;
use crate::standalone::binaries;

/// The version of the placeholder's artefact, as in Cargo.toml.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const JUNIT: &str = "5.11.4";

/// The built packages.
struct Built {
    dir: TempDir,
}

impl Built {
    /// Builds all of them for this processor; once for all tests.
    fn all() -> anyhow::Result<&'static Self> {
        static BUILT: OnceLock<Result<Built, String>> = OnceLock::new();
        BUILT
            .get_or_init(|| Self::new().map_err(|error| format!("{error:#}")))
            .as_ref()
            .map_err(anyhow::Error::msg)
    }

    fn new() -> anyhow::Result<Self> {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let own = binaries()?.into_iter().find(|(processor, _)| processor == env::consts::ARCH);
        let (processor, binary) = own.context("no static binary for this processor")?;
        let script = packaging().join("fixtures");
        let triple = format!("{processor}-unknown-linux-musl");
        run(Command::new(script).arg(binary).arg(triple).env("PACKAGING_OUT", dir.path()))?;
        Ok(Self { dir })
    }

    /// Returns the package whose name ends so.
    fn file(&self, end: &str) -> anyhow::Result<PathBuf> {
        let mut paths = fs::read_dir(self.dir.path())?.flatten().map(|entry| entry.path());
        let found = paths.find(|path| path.to_string_lossy().ends_with(end));
        found.with_context(|| format!("no package ends with {end}"))
    }
}

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(".packaging")
}

/// Returns the example of a README: its first block of code in a language.
fn example(folder: &str, language: &str) -> anyhow::Result<String> {
    let text = fs::read_to_string(packaging().join(folder).join("README.md"))?;
    let (_, from) = text.split_once(&format!("```{language}\n")).context("no example")?;
    Ok(from.split_once("```").context("an example without an end")?.0.to_owned())
}

/// Runs a command that must succeed, without a mallbox of the environment. Returns its output.
fn run(command: &mut Command) -> anyhow::Result<String> {
    succeed(command.env_remove("MALLBOX"))
}

#[test]
#[cfg_attr(
    not(feature = "static-tests"),
    ignore = "tests/packages/run builds the static binaries, and turns it on"
)]
fn pytest_finds_the_plugin_of_the_wheel() -> anyhow::Result<()> {
    let project = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let venv = project.path().join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let wheel = Built::all()?.file(".whl")?;
    run(Command::new(venv.join("bin/pip")).args(["install", "-q", "pytest"]).arg(wheel))?;
    fs::write(project.path().join("test_readme.py"), example("python", "python")?)?;
    let said = run(Command::new(venv.join("bin/pytest")).current_dir(project.path()))?;
    ensure!(said.contains("1 passed"), "{said}");
    let version = run(Command::new(venv.join("bin/mallbox")).arg("--version"))?;
    ensure!(version.contains(VERSION), "{version}");
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "static-tests"),
    ignore = "tests/packages/run builds the static binaries, and turns it on"
)]
fn node_imports_the_package_of_npm() -> anyhow::Result<()> {
    let project = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    fs::write(project.path().join("package.json"), r#"{"type":"module"}"#)?;
    let package = Built::all()?.file(".tgz")?;
    let install = ["install", "--no-audit", "--no-fund", "--silent"].map(OsStr::new);
    run(Command::new("npm").args(install).arg(package).current_dir(project.path()))?;
    let code = example("node", "js")? + "\nconsole.log(order.status, order.success);\n";
    fs::write(project.path().join("readme.mjs"), code)?;
    let said = run(Command::new("node").arg("readme.mjs").current_dir(project.path()))?;
    ensure!(said.trim() == "200 true", "{said}");
    let version = run(Command::new("npx").args(["mallbox", "--version"]).current_dir(project.path()))?;
    ensure!(version.contains(VERSION), "{version}");
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "static-tests"),
    ignore = "tests/packages/run builds the static binaries, and turns it on"
)]
fn junit_takes_the_extension_of_the_jar() -> anyhow::Result<()> {
    let project = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let tests = project.path().join("src/test/java");
    fs::create_dir_all(&tests)?;
    fs::write(tests.join("ReadmeTest.java"), example("java", "java")?)?;
    let dependency = |group: &str, artifact: &str, version: &str| {
        format!(
            "<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>\
             <scope>test</scope></dependency>"
        )
    };
    let plugin = |artifact: &str, version: &str| {
        format!("<plugin><artifactId>{artifact}</artifactId><version>{version}</version></plugin>")
    };
    let pom = [
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>a</groupId>\
         <artifactId>a</artifactId><version>1</version><properties><maven.compiler.release>17</maven.compiler.release>\
         <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties><dependencies>",
        &dependency("org.example.mallbox", "mallbox-fixture", VERSION),
        &dependency("org.junit.jupiter", "junit-jupiter", JUNIT),
        "</dependencies><build><plugins>",
        &plugin("maven-resources-plugin", "3.3.1"),
        &plugin("maven-compiler-plugin", "3.13.0"),
        &plugin("maven-surefire-plugin", "3.5.2"),
        "</plugins></build></project>",
    ];
    fs::write(project.path().join("pom.xml"), pom.concat())?;
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().context("a target directory")?;
    let repository = format!("-Dmaven.repo.local={}", target.join("maven-repository").display());
    let file = format!("-Dfile={}", Built::all()?.file(".jar")?.display());
    let version = format!("-Dversion={VERSION}");
    let install = [
        "-B",
        "-q",
        "org.apache.maven.plugins:maven-install-plugin:3.1.3:install-file",
        "-DgroupId=org.example.mallbox",
        "-DartifactId=mallbox-fixture",
        "-Dpackaging=jar",
    ];
    run(Command::new("mvn").args(install).args([&repository, &file, &version]).current_dir(project.path()))?;
    let said = run(Command::new("mvn").args(["-B", "test"]).arg(&repository).current_dir(project.path()))?;
    ensure!(said.contains("Tests run: 1, Failures: 0, Errors: 0"), "{said}");
    Ok(())
}
