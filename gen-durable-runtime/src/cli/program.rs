use std::{pin::Pin, process::ExitCode, rc::Rc};

use clap::{CommandFactory, FromArgMatches};

use super::{args::Cli, database, log, verbs};
use crate::{client::Client, worker::Worker};

type Fault = Box<dyn std::error::Error + Send + Sync>;
type Local<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + 'a>>;
type AddHandler = Box<dyn Fn(Client) -> Local<'static, Box<dyn FnOnce(Worker) -> Worker>>>;
type RunCommand = Box<dyn Fn(Command) -> Local<'static, ()>>;

/// A program under construction: what `worker!` makes its `main` of.
pub struct Program {
    name: &'static str,
    handlers: Vec<AddHandler>,
    commands: Vec<Own>,
    database: Option<database::Find>,
}

/// A verb of the program's own.
struct Own {
    name: &'static str,
    about: &'static str,
    run: RunCommand,
}

/// What a verb of the program's own works with.
pub struct Command {
    global: super::args::Global,
    args: Vec<String>,
    program: Rc<Program>,
    client: std::cell::OnceCell<Client>,
}

impl Program {
    /// `name` is what the help calls it.
    pub fn new(name: &'static str) -> Self {
        Self { name, handlers: vec![], commands: vec![], database: None }
    }

    /// A handler, by its constructor.
    #[must_use]
    pub fn handler<F, E, X>(mut self, connect: F) -> Self
    where
        F: AsyncFn(&Client) -> Result<E, X> + 'static,
        E: Send + Sync + 'static,
        X: Into<Fault>,
    {
        let connect = Rc::new(connect);
        self.handlers.push(Box::new(move |client| {
            let connect = Rc::clone(&connect);
            Box::pin(async move {
                let handler = connect(&client).await.map_err(Into::into)?;
                let add: Box<dyn FnOnce(Worker) -> Worker> = Box::new(move |worker| worker.handler(handler));
                Ok(add)
            })
        }));
        self
    }

    /// A verb of the program's own; `path` is how its function is written, `about` what the help says of it.
    #[must_use]
    pub fn command<F, X>(mut self, path: &'static str, about: &'static str, command: F) -> Self
    where
        F: AsyncFn(Command) -> Result<(), X> + 'static,
        X: Into<Fault>,
    {
        let name = path.rsplit("::").next().unwrap_or(path).trim();
        let command = Rc::new(command);
        let run: RunCommand = Box::new(move |cx| {
            let command = Rc::clone(&command);
            Box::pin(async move { command(cx).await.map_err(Into::into) })
        });
        self.commands.push(Own { name, about, run });
        self
    }

    /// Where the database is when neither `--database` nor `DATABASE_URL` says.
    #[must_use]
    pub fn database<X: Into<Fault>>(mut self, find: impl Fn() -> Result<String, X> + 'static) -> Self {
        self.database = Some(Box::new(move || find().map_err(Into::into)));
        self
    }

    /// Runs the program: the whole of `main`.
    pub fn main(self) -> ExitCode {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let ended = match runtime {
            Ok(runtime) => {
                let ended = runtime.block_on(self.run());
                // A blocking call of a handler must not hold up the end.
                runtime.shutdown_background();
                ended
            }
            Err(error) => Err(error.into()),
        };
        match ended {
            Ok(()) => ExitCode::SUCCESS,
            Err(fault) => {
                eprintln!("error: {}", chain(&*fault));
                ExitCode::FAILURE
            }
        }
    }

    async fn run(self) -> Result<(), Fault> {
        let mut command = Cli::command().name(self.name);
        for own in &self.commands {
            let args = clap::Arg::new("args").num_args(0..).trailing_var_arg(true).allow_hyphen_values(true);
            command = command.subcommand(clap::Command::new(own.name).about(own.about).arg(args));
        }
        let matches = command.get_matches();
        let own = matches.subcommand().and_then(|(verb, args)| {
            let at = self.commands.iter().position(|own| own.name == verb)?;
            Some((at, args.get_many::<String>("args").into_iter().flatten().cloned().collect::<Vec<_>>()))
        });
        let program = Rc::new(self);
        if let Some((at, args)) = own {
            let global = <super::args::Global as FromArgMatches>::from_arg_matches(
                matches.subcommand().map_or(&matches, |s| s.1),
            );
            let global = global.unwrap_or_else(|e| e.exit());
            log::init(global.log, "warn");
            let client = std::cell::OnceCell::new();
            let command = Command { global, args, program: Rc::clone(&program), client };
            return (program.commands[at].run)(command).await;
        }
        let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
        verbs::run(&program, cli).await
    }

    pub(super) fn open(&self, global: &super::args::Global) -> Result<Client, Fault> {
        let url = database::url(global, self.database.as_ref())?;
        let options = Client::options(url).schema(&global.schema)?.transaction_pooler(global.transaction_pooler);
        Ok(options.open()?)
    }

    /// A worker with every handler.
    pub(super) async fn worker(&self, client: &Client) -> Result<Worker, Fault> {
        let mut worker = Worker::new(client.clone());
        for connect in &self.handlers {
            worker = connect(client.clone()).await?(worker);
        }
        Ok(worker)
    }
}

/// An error with everything that caused it, each said once.
fn chain(fault: &(dyn std::error::Error + 'static)) -> String {
    let mut text = fault.to_string();
    let mut cause = fault.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

impl Command {
    /// A client on the program's database, opened with the first call; nothing was looked at yet. Close it at the end,
    /// so that no wake-up is lost with the process.
    ///
    /// # Errors
    /// When there is no database, or its URL cannot be read.
    pub fn client(&self) -> Result<Client, Fault> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let client = self.program.open(&self.global)?;
        Ok(self.client.get_or_init(|| client).clone())
    }

    /// What stood behind the verb.
    pub fn args(&self) -> &[String] {
        &self.args
    }

    /// A worker with every handler of the program.
    ///
    /// # Errors
    /// What the constructor of a handler says.
    pub async fn worker(&self) -> Result<Worker, Fault> {
        self.program.worker(&self.client()?).await
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("name", &self.name).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Command").field("args", &self.args).finish_non_exhaustive()
    }
}
