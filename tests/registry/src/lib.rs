//! Says which machines are linked into a binary.

use gen_durable_runtime::machine::registry;

/// One line for each machine: its stored name, where it stands, and who serves it.
pub fn print() {
    let mut lines: Vec<String> = registry::machines().map(line).collect();
    lines.sort();
    lines.iter().for_each(|line| println!("{line}"));
}

fn line(machine: &registry::MachineRegistration) -> String {
    let info = (machine.info)();
    let serves = |h: &&registry::HandlerRegistration| (h.machine)() == (machine.type_id)();
    let handlers: Vec<&str> = registry::handlers().filter(serves).map(|h| (h.handler)().1).collect();
    format!("{} {} {}", info.name, info.rust_path, handlers.join(", "))
}
