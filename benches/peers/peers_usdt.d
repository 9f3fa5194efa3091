provider peers_usdt {
    probe hit(uint64_t);
};
