//! A program that finds its database itself.

gen_durable::worker!(database = find);

fn find() -> Result<String, std::io::Error> {
    Ok("sqlite://found.db".into())
}
