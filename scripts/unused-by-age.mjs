// In place of what age needs for kinds of keys that we do not have: post-quantum hybrids and hardware tokens. It is as
// large as all the rest of it. Our keys are X25519; a file for another kind is one that we cannot open.
const unused = () => {
  throw new Error('this kind of key is not supported')
}
const never = { getPublicKey: unused, encapsulate: unused, decapsulate: unused, Point: { fromBytes: unused } }
export const MLKEM768P256 = never
export const MLKEM768X25519 = never
export const p256 = never
