//! Errors of this crate as text: the commands of the binaries end in a text and an exit code.

use crate::{
    headers::HeaderError,
    output::OutputError,
    settings::{
        file::{ContentsError, FileError},
        layer::SettingError,
        setup::SetupError,
    },
};

macro_rules! into_text {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for String {
            fn from(error: $error) -> Self {
                error.to_string()
            }
        }
    )+};
}

into_text!(ContentsError, FileError, HeaderError, OutputError, SettingError, SetupError);
