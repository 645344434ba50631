export async function checkOnChain() {}
