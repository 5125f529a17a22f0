/** The tables belong to another journal or another version, or a page of the file is damaged: they are rebuilt. */
export class UnfitIndex extends Error {}
