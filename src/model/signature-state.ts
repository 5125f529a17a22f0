/**
 * What can be said of who wrote a message: it is signed with the sender's key; it is not signed: it was
 * sent from where that key is not, or by somebody who does not have it; it is signed with another key, or was changed
 * since; or it was brought from another space.
 */
export const signatureStates = ['signed', 'unsigned', 'forged', 'imported'] as const
export type SignatureState = (typeof signatureStates)[number]

/** What a reader is told of it. */
export const signatureText = (state: SignatureState, from: string): string =>
  ({
    signed: `signed by ${from}`,
    unsigned: 'not signed',
    forged: `not signed with the key of ${from}: it may be forged`,
    imported: 'imported, so who wrote it is not proved here',
  })[state]
