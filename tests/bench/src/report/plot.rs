//! A workload as bars, in SVG: the median of each way, its spread as a thin line, and the ratio to its limit.

use std::{fmt::Write as _, fs, io, path::Path};

use super::{Line, Section};

const BAR: f64 = 18.0;
const ROW: f64 = 28.0;
const TOP: f64 = 40.0;
const NAMES: f64 = 330.0;
const BARS: f64 = 420.0;
const WIDTH: f64 = NAMES + BARS + 170.0;

/// Writes `<id>.svg` into a directory, which is made if it is not there.
///
/// # Errors
/// The file system's.
pub fn write(section: &Section, directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join(format!("{}.svg", section.id)), svg(section))
}

fn svg(section: &Section) -> String {
    let most = section.lines.iter().map(|line| line.value(1.0)).fold(f64::MIN_POSITIVE, f64::max);
    let height = TOP + ROW * section.lines.len() as f64 + 12.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{} ({})</text>\n",
        escaped(&section.title),
        section.unit
    );
    for (at, line) in section.lines.iter().enumerate() {
        let limit = line.limit.map(|limit| &section.lines[limit]);
        out.push_str(&bar(line, limit, TOP + ROW * at as f64, BARS / most));
    }
    out.push_str("</svg>\n");
    out
}

fn bar(line: &Line, limit: Option<&Line>, y: f64, scale: f64) -> String {
    let [low, median, high] = [0.0, 0.5, 1.0].map(|at| line.value(at) * scale);
    let (fill, middle, text) = (if limit.is_some() { "#2b6cb0" } else { "#a0aec0" }, y + BAR / 2.0, y + BAR - 4.0);
    let ratio = limit.map_or_else(String::new, |limit| format!(" · {:.2} of the limit", line.ratios(limit)[1]));
    let value = line.value(0.5);
    let digits = if value < 100.0 { 2 } else { 0 };
    let mut out =
        format!("<text x=\"{}\" y=\"{text}\" text-anchor=\"end\">{}</text>\n", NAMES - 8.0, escaped(&line.name));
    let _ = writeln!(out, "<rect x=\"{NAMES}\" y=\"{y}\" width=\"{median:.1}\" height=\"{BAR}\" fill=\"{fill}\"/>");
    let _ = writeln!(
        out,
        "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{middle}\" y2=\"{middle}\" stroke=\"#1a202c\" stroke-width=\"1.5\"/>",
        NAMES + low,
        NAMES + high
    );
    let _ =
        writeln!(out, "<text x=\"{:.1}\" y=\"{text}\">{value:.digits$}{ratio}</text>", NAMES + high.max(median) + 6.0);
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::Figure;

    #[test]
    fn a_bar_is_as_long_as_its_median_and_names_its_ratio() {
        let line = |name: &str, values: &[f64], limit| Line {
            name: name.into(),
            limit,
            figures: values.iter().map(|v| Figure::of(*v)).collect(),
        };
        let mut section = Section::of("x", "a < b", "rows/s");
        section.lines = vec![line("bare", &[100.0, 200.0, 300.0], None), line("ours", &[50.0, 150.0, 150.0], Some(0))];
        let svg = svg(&section);
        assert!(svg.contains("a &lt; b (rows/s)") && svg.contains("150 · 0.50 of the limit"), "{svg}");
        assert!(svg.contains(&format!("width=\"{:.1}\"", BARS * 2.0 / 3.0)), "{svg}");
    }
}
