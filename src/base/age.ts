/** What wrapping.ts needs of age. The build makes one file of it, for all bundles. */
export { ed25519 } from '@noble/curves/ed25519.js'
export { bech32 } from '@scure/base'
export { Decrypter, Encrypter } from 'age-encryption'
