//! Errors of this crate as text: the commands of the binaries end in a text and an exit code.

use crate::{
    file::{ContentsError, FileError},
    headers::HeaderError,
    layer::SettingError,
    output::OutputError,
    setup::SetupError,
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

into_text!(
    ContentsError,
    FileError,
    HeaderError,
    OutputError,
    SettingError,
    SetupError
);
