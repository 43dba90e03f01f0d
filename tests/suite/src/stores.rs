//! One body, every store.

/// Runs each promise, an `async fn(Db)`, on each store: `mod postgres` and `mod sqlite` hold the tests.
///
/// `both` runs on both. A promise of one store says why the other cannot show it; there it stands as an ignored test.
/// A body that is not listed is dead code, which the lints refuse.
///
/// ```ignore
/// suite::stores! {
///     both { a_promise, another }
///     both(flavor = "multi_thread") { a_race }
///     postgres { a_third => "a file has no row locks" }
/// }
/// ```
#[macro_export]
macro_rules! stores {
    ($($store:ident $( ($($flavor:tt)*) )? { $($promises:tt)* })*) => {
        #[cfg(feature = "postgres")]
        mod postgres {
            $( $crate::promises! { postgres $store ($($($flavor)*)?) $($promises)* } )*
        }
        #[cfg(feature = "sqlite")]
        mod sqlite {
            $( $crate::promises! { sqlite $store ($($($flavor)*)?) $($promises)* } )*
        }
    };
}

/// The tests of one store.
#[doc(hidden)]
#[macro_export]
macro_rules! promises {
    ($on:ident both $flavor:tt $($name:ident),* $(,)?) => { $( $crate::promise! { $on $flavor $name } )* };
    (postgres postgres $flavor:tt $($name:ident => $reason:literal),* $(,)?) => {
        $( $crate::promise! { postgres $flavor $name } )*
    };
    (sqlite sqlite $flavor:tt $($name:ident => $reason:literal),* $(,)?) => {
        $( $crate::promise! { sqlite $flavor $name } )*
    };
    ($on:ident $of:ident $flavor:tt $($name:ident => $reason:literal),* $(,)?) => {
        $(
            #[test]
            #[ignore = $reason]
            fn $name() {}
        )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! promise {
    ($on:ident $flavor:tt $name:ident) => {
        #[tokio::test $flavor]
        async fn $name() {
            super::$name($crate::Db::$on().await).await;
        }
    };
}
