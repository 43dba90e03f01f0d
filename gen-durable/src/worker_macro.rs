/// A whole `main.rs`: migrates, and works every machine linked into the binary.
///
/// ```
/// # #[gen_durable::durable_fsm(handler(Shop))] pub enum Ping { #[step(start, done)] Only }
/// # pub struct Shop;
/// # impl PingSteps for Shop {
/// #     async fn only(&self, _: Only, _: &gen_durable::StepContext) -> gen_durable::StepResult<Only> {
/// #         Ok(gen_durable::done(()))
/// #     }
/// # }
/// # impl Shop {
/// #     async fn connect(_: &gen_durable::Client) -> Result<Shop, gen_durable::Error> { Ok(Shop) }
/// # }
/// # mod program {
/// # use super::Shop;
/// gen_durable::worker!(Shop::connect);
/// # }
/// # fn main() {}
/// ```
///
/// `Shop::connect` is an `async fn(&Client) -> Result<Shop, E>`; several may be given, and each serves the machines
/// that name its type. `commands = [demo: "Sells a file of orders"]` adds verbs of the program's own, each
/// an `async fn(Command) -> Result<(), E>`; the text is for the help and may be left out.
///
/// The database is `--database URL`, else `DATABASE_URL`: `sqlite://file.db`, `sqlite:///absolute/file.db` or
/// `postgres://user@host/database`. When neither is given it is `sqlite://gen-durable.db`, in the current directory, and
/// the program says so in one line; `database = find`, a `fn() -> Result<String, E>`, is asked for a URL instead.
///
/// The binary has the verbs `run` (the default), `migrate`, `copy`, `machines`, `graph`, `start`, `signal`, `show` and
/// `list`, each with `--help`.
#[macro_export]
macro_rules! worker {
    (@program $program:expr;) => { $program };
    (@program $program:expr; commands = [$($command:path $(: $about:literal)?),* $(,)?] $(, $($rest:tt)*)?) => {
        $crate::worker!(
            @program $program$(.command(::core::stringify!($command), ::core::concat!($($about)?), $command))*;
            $($($rest)*)?
        )
    };
    (@program $program:expr; database = $database:path $(, $($rest:tt)*)?) => {
        $crate::worker!(@program $program.database($database); $($($rest)*)?)
    };
    (@program $program:expr; $handler:path $(, $($rest:tt)*)?) => {
        $crate::worker!(@program $program.handler($handler); $($($rest)*)?)
    };
    ($($given:tt)*) => {
        fn main() -> ::std::process::ExitCode {
            $crate::worker!(@program $crate::cli::Program::new(::core::env!("CARGO_PKG_NAME")); $($given)*).main()
        }
    };
}
