//! Where a machine may stand, and who may see it.
#![deny(warnings, unreachable_pub, private_interfaces, private_bounds, unnameable_types)]

use std::sync::Arc;

use gen_durable::{Machine, start};
use language::Instance;

/// Several machines in one module, a private one among them; their steps do not meet.
mod several {
    use gen_durable::prelude::*;
    use serde::{Deserialize, Serialize};

    pub(crate) struct Shop;

    #[derive(Serialize, Deserialize, Signal)]
    pub(crate) struct Paid {}
    #[derive(Serialize, Deserialize, Signal)]
    pub(crate) struct Declined {}

    #[durable_fsm(handler(Shop))]
    pub(crate) enum Order {
        #[step(start, next(Wait))]
        Reserve { order: u64 },
        #[step(await(Paid, Declined), done)]
        Wait { order: u64 },
    }
    impl OrderSteps for Shop {
        async fn reserve(&self, step: Reserve, _: &StepContext) -> StepResult<Reserve> {
            Ok(goto(Wait { order: step.order }))
        }
        async fn wait(&self, _: Wait, signal: WaitSignal, _: &StepContext) -> StepResult<Wait> {
            match signal {
                WaitSignal::Paid(_) | WaitSignal::Declined(_) => Ok(done(())),
            }
        }
    }

    #[durable_fsm(handler(Shop))]
    pub(crate) enum Refund {
        #[step(start, next(Gather), spawn(Private, Note))]
        Begin { order: u64 },
        #[step(join(Note, Order), done)]
        Gather { order: u64 },
    }
    impl RefundSteps for Shop {
        async fn begin(&self, step: Begin, _: &StepContext) -> StepResult<Begin> {
            let notes = fan_out(Gather { order: step.order }).children([Note::start(step.order)]);
            let orders = notes.children([start(Reserve { order: step.order })]);
            Ok(orders.spawn(start(Hidden)).spawn(Note::start(0)).into())
        }
        async fn gather(
            &self,
            _: Gather,
            (notes, orders): (Joined<Note>, Joined<Order>),
            _: &StepContext,
        ) -> StepResult<Gather> {
            let _ = (notes.complete(), orders.complete());
            Ok(done(()))
        }
    }

    #[durable_fsm(handler(Shop))]
    enum Private {
        #[step(start, done)]
        Hidden,
    }
    impl PrivateSteps for Shop {
        async fn hidden(&self, _: Hidden, _: &StepContext) -> StepResult<Hidden> {
            Ok(done(()))
        }
    }

    #[durable_job]
    pub(crate) async fn note(_: &Shop, order: u64) -> Result<u64, StepError> {
        Ok(order)
    }
}

/// Deep in modules, seen by a part of the crate.
mod outer {
    pub(crate) mod middle {
        pub(crate) mod inner {
            use gen_durable::prelude::*;

            pub(in crate::outer) struct Hands;

            #[durable_fsm(handler(Hands))]
            pub(in crate::outer) enum Deep {
                #[step(start, next(Bottom, Owned))]
                Top { by: String },
                #[step(done)]
                Bottom,
                #[step(done)]
                Owned(super::data::Owned),
            }
            impl DeepSteps for Hands {
                async fn top(&self, step: Top, _: &StepContext) -> StepResult<Top> {
                    Ok(if step.by.is_empty() { goto(Bottom) } else { goto(super::data::Owned { by: step.by }) })
                }
                async fn bottom(&self, _: Bottom, _: &StepContext) -> StepResult<Bottom> {
                    Ok(done(()))
                }
                async fn owned(&self, _: super::data::Owned, _: &StepContext) -> StepResult<super::data::Owned> {
                    Ok(done(()))
                }
            }
        }

        mod data {
            #[derive(serde::Serialize, serde::Deserialize)]
            pub(in crate::outer) struct Owned {
                pub(super) by: String,
            }
        }
    }

    pub(crate) fn run() -> &'static str {
        let mut deep = language::Instance::start(gen_durable::start(middle::inner::Top { by: String::new() }));
        deep.run(&std::sync::Arc::new(middle::inner::Hands));
        deep.result::<middle::inner::Deep>();
        <middle::inner::Deep as gen_durable::Machine>::INFO.rust_path
    }
}

#[test]
fn modules_hold_several_machines() {
    let mut order = Instance::start(start(several::Reserve { order: 1 }));
    order.run(&Arc::new(several::Shop));
    order.send(&several::Paid {});
    order.run(&Arc::new(several::Shop));
    order.result::<several::Order>();
    let mut refund = Instance::start(start(several::Begin { order: 1 }));
    refund.run(&Arc::new(several::Shop));
    assert_eq!((refund.children.len(), refund.spawned.len()), (2, 2));
    assert!(several::Refund::INFO.rust_path.ends_with("::several::Refund"));
}

#[test]
fn a_part_of_the_crate_sees_a_machine() {
    assert!(outer::run().ends_with("::outer::middle::inner::Deep"));
}

/// In a function: two of them may hold machines of the same words.
fn in_one() -> &'static str {
    use gen_durable::prelude::*;
    struct Hands;
    #[durable_fsm(name = "in_one", handler(Hands))]
    enum Local {
        #[step(start, next(Job))]
        First { n: u64 },
        #[step(join(Double), done)]
        Job { n: u64 },
    }
    #[durable_job]
    async fn double(_: &Hands, n: u64) -> Result<u64, StepError> {
        Ok(n * 2)
    }
    impl LocalSteps for Hands {
        async fn first(&self, step: First, _: &StepContext) -> StepResult<First> {
            Ok(fan_out(Job { n: step.n }).children([Double::start(step.n)]).into())
        }
        async fn job(&self, step: Job, children: Joined<Double>, _: &StepContext) -> StepResult<Job> {
            assert_eq!(children.results().await?, [step.n * 2]);
            Ok(done(()))
        }
    }
    let hands = Arc::new(Hands);
    let mut local = Instance::start(start(First { n: 4 }));
    local.run(&hands);
    local.run_children(&hands);
    local.run(&hands);
    local.result::<Local>();
    Local::NAME
}

fn in_two() -> &'static str {
    use gen_durable::prelude::*;
    #[derive(serde::Serialize, serde::Deserialize, Signal)]
    struct Go {}
    #[derive(serde::Serialize, serde::Deserialize, Signal)]
    struct Stay {}
    struct Hands;
    #[durable_fsm(name = "in_two", handler(Hands))]
    enum Local {
        #[step(start, await(all(Go, Stay)), done)]
        First { n: u64 },
    }
    impl LocalSteps for Hands {
        async fn first(&self, _: First, signals: FirstSignals, _: &StepContext) -> StepResult<First> {
            let FirstSignals { go: Go {}, stay: Stay {} } = signals;
            Ok(done(()))
        }
    }
    let mut local = Instance::start(start(First { n: 4 }));
    local.send(&Go {});
    local.send(&Stay {});
    local.run(&Arc::new(Hands));
    local.result::<Local>();
    Local::NAME
}

#[test]
fn functions_hold_machines_of_their_own() {
    assert_eq!((in_one(), in_two()), ("in_one", "in_two"));
}

/// In a constant, in a closure, in an associated function.
const _: () = {
    use gen_durable::prelude::*;
    #[durable_fsm]
    enum InAConstant {
        #[step(start, done)]
        Only,
    }
};

#[test]
fn a_machine_in_a_block_is_registered() {
    let inner = || {
        #[gen_durable::durable_fsm]
        enum InAClosure {
            #[step(start, done)]
            Only { n: u64 },
        }
        InAClosure::NAME
    };
    assert_eq!(inner(), "in_a_closure");
    let linked: Vec<_> =
        gen_durable_runtime::machine::registry::machines().map(|machine| (machine.info)().name).collect();
    assert!(
        ["in_one", "in_two", "in_a_constant", "in_a_closure"].iter().all(|name| linked.contains(name)),
        "{linked:?}"
    );
}

/// Several starts, one with a key; unit steps; a step that is its own next; data types of the user's.
mod starts {
    use gen_durable::prelude::*;
    use serde::{Deserialize, Serialize};

    pub(crate) struct Hands;

    #[derive(Debug, PartialEq, Clone, Serialize, Deserialize)]
    pub(crate) struct Imported {
        pub(crate) order: u64,
        pub(crate) source: Option<String>,
    }

    #[durable_fsm(handler(Hands), output(Vec<u64>), steps(derive(Debug, Clone, PartialEq)))]
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) enum Begins {
        #[step(start, next(Own, Ends))]
        Empty,
        #[step(start, key(order), next(Ends))]
        Own { order: u64 },
        #[step(start, key(order), next(Imported, Ends))]
        Imported(Imported),
        #[step(done)]
        Ends { order: u64 },
    }
    impl BeginsSteps for Hands {
        async fn empty(&self, Empty: Empty, _: &StepContext) -> StepResult<Empty> {
            Ok(goto(Own { order: 1 }))
        }
        async fn own(&self, step: Own, _: &StepContext) -> StepResult<Own> {
            Ok(goto(Ends { order: step.order }))
        }
        async fn imported(&self, step: Imported, _: &StepContext) -> StepResult<Imported> {
            Ok(match step.source {
                Some(_) => goto(Imported { order: step.order + 1, source: None }),
                None => goto(Ends { order: step.order }),
            })
        }
        async fn ends(&self, step: Ends, _: &StepContext) -> StepResult<Ends> {
            Ok(done(vec![step.order]))
        }
    }
}

#[test]
fn an_instance_begins_at_any_start() {
    use starts::{Begins, Empty, Hands, Imported, Own};
    let run = |mut begun: Instance| {
        begun.run(&Arc::new(Hands));
        (begun.key.clone(), begun.result::<Begins>())
    };
    assert_eq!(run(Instance::start(start(Empty))), (None, vec![1]));
    assert_eq!(run(Instance::start(start(Own { order: 2 }))), (Some("begins:2".into()), vec![2]));
    let imported = Imported { order: 3, source: Some("file".into()) };
    assert_eq!(run(Instance::start(start(imported))), (Some("begins:3".into()), vec![4]));
}
