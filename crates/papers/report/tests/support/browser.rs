//! Pages in a browser without a window.

use std::fs;
use std::path::Path;

/// The result of `script` in the page `html`, which is shown this many pixels wide; `None` where no browser is
/// installed. The page stands in a frame, since Chromium makes no window narrower than 500 pixels.
pub(crate) fn told(folder: &Path, html: &str, width: u32, script: &str) -> Option<String> {
    let mut chromium = testing::chromium()?;
    let answer =
        format!("<script>parent.postMessage((() => {{ {script} }})(), '*')</script></body>");
    fs::write(folder.join("told.html"), html.replace("</body>", &answer)).expect("a test writes");
    let frame = format!(
        "<!doctype html><body><script>onmessage = (event) => {{ \
         document.body.dataset.told = `${{event.data}}`; }}</script>\
         <iframe src=\"told.html\" width=\"{width}\" height=\"844\"></iframe></body>"
    );
    let path = folder.join("frame.html");
    fs::write(&path, frame).expect("a test writes");
    let path = path.canonicalize().expect("a file of a test");
    let output = chromium
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .args(["--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("a browser that is installed starts");
    let document = String::from_utf8_lossy(&output.stdout);
    let told = document.split("data-told=\"").nth(1);
    let told = told.and_then(|told| told.split('"').next());
    let errors = String::from_utf8_lossy(&output.stderr);
    let told = told.unwrap_or_else(|| panic!("the script of the test failed: {errors}"));
    Some(
        told.replace("&gt;", ">")
            .replace("&lt;", "<")
            .replace("&amp;", "&"),
    )
}

/// A script that returns the width of a page in pixels, with the part that needs scrolling.
pub(crate) const SCROLLED: &str = "return document.documentElement.scrollWidth";
