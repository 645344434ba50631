//! Serde for maps by method and mode: the keys are the names of the pairs, such as `quote-erc20`.

use std::collections::BTreeMap;

use paymaster_schemas::{Kind, kinds};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

pub(super) fn serialize<T: Serialize, S: Serializer>(
    map: &BTreeMap<Kind, T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(map.iter().map(|(pair, value)| (pair.name, value)))
}

pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<Kind, T>, D::Error> {
    let named = BTreeMap::<String, T>::deserialize(deserializer)?;
    let of_pairs = named.into_iter().map(|(name, value)| {
        let pair = kinds::ALL.into_iter().find(|pair| pair.name == name);
        pair.map(|pair| (pair, value))
            .ok_or_else(|| Error::custom(format!("`{name}` is no pair of method and mode")))
    });
    of_pairs.collect()
}
